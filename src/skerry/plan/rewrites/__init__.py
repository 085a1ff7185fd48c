"""Plans made from plans, one verb per file."""
