"""Accepted readings, kept: written once, put together, given up by age and size, asked and replayed."""
