"""Who can hear whom: grids, random fields, files."""
