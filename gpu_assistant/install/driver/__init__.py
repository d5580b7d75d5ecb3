"""NVIDIA's driver: which package or packages, what an installer's exit code says, what is installed now."""
