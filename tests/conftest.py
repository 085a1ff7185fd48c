"""What all tests share."""

import os

from hypothesis import HealthCheck, settings

# Every run tries the same examples; HYPOTHESIS_PROFILE=explore tries new ones, and more.
settings.register_profile("skerry", deadline=None, max_examples=50, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "skerry"))
