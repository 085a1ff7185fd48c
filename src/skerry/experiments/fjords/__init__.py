"""Madden, Franklin: Fjording the Stream: An Architecture for Queries over Streaming Sensor Data, 2001, section 6."""
