"""Sums, groups and panes of window aggregates."""
