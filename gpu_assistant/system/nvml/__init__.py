"""NVML, NVIDIA's management library."""
