"""Sums, groups and pages of window aggregates."""
