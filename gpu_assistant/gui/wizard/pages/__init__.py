"""The wizard's pages."""
