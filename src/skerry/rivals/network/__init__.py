"""What rule programs on motes are measured against: the same answers by code written for one purpose."""
