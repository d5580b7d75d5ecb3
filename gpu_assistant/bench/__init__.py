"""How fast? The parent here; `child.py` measures in the environment's own Python."""
