"""Arrays in files of chunks."""
