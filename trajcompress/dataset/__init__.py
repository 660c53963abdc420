"""Reading rows from files and writing them as a dataset."""
