"""The papers' figures, measured again. The only room that imports matplotlib."""
