"""Queues between operators: one writer, one reader, and nothing that passes through is changed."""
