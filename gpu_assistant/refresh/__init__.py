"""Newer facts for the catalog, from the publishers' own machine-readable pages."""
