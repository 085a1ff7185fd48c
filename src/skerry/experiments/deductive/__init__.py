"""Gupta, Zhu: Deductive Approach for Programming Sensor Networks, section 4: Figures 4 to 6, and memory."""
