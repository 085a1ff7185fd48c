"""Joins of any number of streams: one operator, and the techniques it can be run by."""
