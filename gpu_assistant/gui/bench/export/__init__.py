"""Saving a result for other people: as a picture, or as an HTML report."""
