"""Shedders that know the future, by which load shedding is judged.

For the experiments of Kwon, Lee, Kim: Load shedding for multi-way stream joins based on arrival order patterns, 2010.
"""
