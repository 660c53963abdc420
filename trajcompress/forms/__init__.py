"""Forms: how each target wants its rows, and the smallest change that makes a row one of them."""
