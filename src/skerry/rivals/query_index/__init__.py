"""Indexes for many selection queries: Spatial Join CQ (SJ-Batch, SJ-Immediate), IBS trees, brute force.

Lim, Lee, Lee, Whang, Song: Continuous Query Processing in Data Streams Using Duality of Data and Queries, 2006.
"""
