"""Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, sections 7.1 and 7.2."""
