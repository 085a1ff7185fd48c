"""State machines over Arrow batches, one a file."""
