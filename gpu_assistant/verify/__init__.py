"""Verification of environments, used by `install`, `verify` and the window."""
