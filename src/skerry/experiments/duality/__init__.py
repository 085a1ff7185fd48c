"""Lim and others: Continuous Query Processing in Data Streams Using Duality of Data and Queries, 2006, section 7."""
