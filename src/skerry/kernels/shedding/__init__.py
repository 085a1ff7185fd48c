"""Joins within a budget: bounded windows, queues of victims, policies, counters of what was lost."""
