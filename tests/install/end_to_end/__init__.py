"""A whole setup with the real program, and the real PyTorch, in a sandbox."""
