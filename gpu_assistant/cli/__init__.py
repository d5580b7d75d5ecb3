"""The command line: one of the product's two faces."""
