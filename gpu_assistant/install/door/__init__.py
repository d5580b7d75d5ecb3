"""The one narrow door to administrator rights: a helper that does one checked thing, answers, and ends."""
