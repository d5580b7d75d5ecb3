"""The kinds of steps, one file each, and what they share."""
