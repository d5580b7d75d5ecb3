"""The window in which an example program runs: its code, its figures and its pictures."""
