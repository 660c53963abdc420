"""What programs report in forms of their own: errors, exit codes, test runs."""
