"""Engines: who works on the parts of an input. They carry messages between workers and a coordinator."""
