"""How bytes get here safely: resume, checksums, free space, and no final name before a file is complete."""
