"""The health test in the window: choose how thorough, watch it, read what it found."""
