"""Relations of rules: rows, their indexes, exact arithmetic; and what settles them a row at a time."""
