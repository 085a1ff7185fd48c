"""Kwon, Lee, Kim: Load shedding for multi-way stream joins based on arrival order patterns, 2010, section 5."""
