"""Where answers go."""
