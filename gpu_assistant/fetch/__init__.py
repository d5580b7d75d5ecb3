"""How bytes get here safely: resume, hashes, free space, and nothing under a final name before it is whole."""
