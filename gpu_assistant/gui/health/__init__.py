"""The dialog of the health test."""
