"""What a query means, as immutable data, and how it is cut into stages."""
