"""An action of the agent, and what it is called in a line."""
