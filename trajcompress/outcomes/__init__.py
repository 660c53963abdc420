"""What ran, and what came of it: actions, and their results in a phrase of their own words."""
