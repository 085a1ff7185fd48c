"""SQL views on motes: where their rows meet, what that costs, and the runtime that simulates it."""
