"""Does an environment really work? Checks shared by install, verify and the window."""
