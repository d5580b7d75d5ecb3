"""Plans: made from a recommendation, and validated when read from a file."""
