"""One module for each format of an audit; all have ``render(report) -> str``."""
