"""The page of a running install."""
