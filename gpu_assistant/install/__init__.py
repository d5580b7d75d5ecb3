"""What will be done, was it done, how is it undone: plan, steps, journal, environments."""
