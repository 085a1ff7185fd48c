"""Which neighbour a message goes to next: shortest paths, trees, rows and columns, positions, hashed homes."""
