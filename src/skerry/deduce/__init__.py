"""Rules kept true while facts come and go."""
