"""The data core: turns, tool groups, roles, and what each trainer takes of them."""
