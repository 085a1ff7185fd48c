"""Who must go when a window is full: one policy a file."""
