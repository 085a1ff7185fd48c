"""Pairs of motes in the road: the loops they sample, the programs they run, how exact these are.

Madden, Franklin: Fjording the Stream: An Architecture for Queries over Streaming Sensor Data, 2001, section 6.
"""
