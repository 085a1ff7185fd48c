"""Techniques for many window-join queries over two streams: SJ-Join, IBS-JS, and the index that ships behind one join.

Lim, Lee, Lee, Whang, Song: Continuous Query Processing in Data Streams Using Duality of Data and Queries, 2006,
section 6.
"""
