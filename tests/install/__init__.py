"""Installs with the real uv from tiny wheels, and one with the real PyTorch."""
