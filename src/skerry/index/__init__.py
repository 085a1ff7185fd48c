"""Duality of data and queries: many standing selections matched with many readings at once."""
