"""Widgets that pages are made of."""
