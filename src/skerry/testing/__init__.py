"""For tests, of Skerry and of what is built on it: operator laws, query cases, sources."""
