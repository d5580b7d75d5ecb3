"""How the computer is now, and how it was in the last month: samples, their history, CSV and Prometheus."""
