"""Which tuple must go when a window is full: one policy per file."""
