"""What a training step needs in memory, and the largest batch that fits."""
