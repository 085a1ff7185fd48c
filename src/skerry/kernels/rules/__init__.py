"""Relations of rules: rows, their indexes, exact arithmetic."""
