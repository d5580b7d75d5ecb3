"""How is the machine just now? Samples, their history in memory, and CSV."""
