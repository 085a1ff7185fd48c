"""Where readings come from: one connector a file, and the replay that lets them advance together."""
