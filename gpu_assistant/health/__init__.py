"""Whether the GPUs are healthy: rules over samples, and a test in three levels that puts them under load."""
