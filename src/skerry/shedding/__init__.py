"""What to forget when memory or time is short, and what that costs."""
