"""Sums, extremes, groups and slices of window aggregates."""
