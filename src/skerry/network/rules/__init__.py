"""Rule programs on motes: what a mote is given, how it joins, derives and withdraws, and whole runs."""
