"""What stands between sensors and queries: proxies, demand, control, sensor programs, power."""
