"""Which batch fits in a GPU's memory."""
