"""Runtime 3: motes in a simulated network. Time, radio, topologies, routing, and what runs on motes."""
