"""A run as a picture, and as a film: motes, links, and what went over them."""
