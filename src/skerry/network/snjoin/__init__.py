"""SNJoin*: cluster heads join the readings of their members, and probe each other.

Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, sections 4 and 5.
"""
