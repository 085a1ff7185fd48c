"""Kernels of the simulated network."""
