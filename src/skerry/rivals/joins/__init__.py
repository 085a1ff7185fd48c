"""Joins of variable arity, as compared in: Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005."""
