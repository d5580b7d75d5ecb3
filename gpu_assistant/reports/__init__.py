"""A result told to other people: one HTML page, in the window's words, made by the window and by the command line."""
