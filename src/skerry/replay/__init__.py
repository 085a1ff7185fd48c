"""Sources advancing together in event time: steps, their size, and how much of them an overloaded view takes in."""
