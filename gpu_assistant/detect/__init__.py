"""What is this machine? Small probes side by side; each reads, and a pure function makes sense of it."""
