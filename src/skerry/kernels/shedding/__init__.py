"""Joins within a budget: windows, queues of victims, policies, the books of what was lost."""
