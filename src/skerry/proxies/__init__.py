"""What stands between sensors and queries."""
