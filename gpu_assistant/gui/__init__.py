"""The window. Importing this package loads no Qt; its modules do."""
