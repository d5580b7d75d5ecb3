"""The write-ahead journal of effects, recovery after a kill, and reverting."""
