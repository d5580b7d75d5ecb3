"""GPU Assistant: from a new graphics card to a training PyTorch, and it stays well."""

__version__ = "0.1.0"
