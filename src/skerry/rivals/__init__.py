"""Algorithms of the papers, and designs of their peers, that no product path uses: kept to be measured against.

- ``joins``: joins of variable arity, in three ways.
  Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005.
- ``shedding``: shedders that know the future, by which policies are judged. For the experiments of
  Kwon, Lee, Kim: Load shedding for multi-way stream joins based on arrival order patterns, 2010.
- ``query_index``: indexes for selection queries (Spatial Join CQ, IBS trees, brute force);
  ``window_joins``: techniques for window-join queries (SJ-Join, IBS-JS).
  Lim, Lee, Lee, Whang, Song: Continuous Query Processing in Data Streams Using Duality of Data and Queries, 2006.

Only experiments, benchmarks and tests import this room. Its kernels are compiled when they are first called;
experiments call them once before they measure.
"""
