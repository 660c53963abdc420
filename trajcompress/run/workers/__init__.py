"""Workers that commit parts by themselves, and who hands these out."""
