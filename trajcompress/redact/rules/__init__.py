"""What makes a text a secret: a rule book, a module for each way in which secrets are written."""
