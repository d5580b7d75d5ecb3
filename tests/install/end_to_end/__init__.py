"""The whole road of a setup with the real program, and the real PyTorch, in a place of the tests."""
