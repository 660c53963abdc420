"""The rungs of the ladder, one file each: a state of a trajectory in, the next state out."""
