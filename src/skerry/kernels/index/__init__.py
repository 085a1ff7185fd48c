"""Many boxes against many points: the index that is shipped, and the paper's rivals."""
