"""Where an environment lies and how other programs use it."""
