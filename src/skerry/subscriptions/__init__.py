"""Subscriptions and views that only select, answered together: the registry, its versions, its counters."""
