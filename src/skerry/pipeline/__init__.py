"""What every runtime shares: the pipeline, the intake of readings, a view at work, and what a run comes to."""
