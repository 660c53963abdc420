"""How far a run is: counted from its events, shown, and kept for who looks at it from outside."""
