"""From plan to operators: one builder per node, and the cut between what runs beside a source and what runs by key."""
