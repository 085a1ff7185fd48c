"""Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, sections 6 and 7."""
