"""Clusters: some motes are heads, and every other belongs to one that it can hear."""
