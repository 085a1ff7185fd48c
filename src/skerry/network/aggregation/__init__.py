"""Aggregates computed on the way to a root: exactly over a tree, or robustly over rings."""
