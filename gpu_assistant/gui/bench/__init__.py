"""The benchmark in the window: its page, its words, what it shows and shares."""
