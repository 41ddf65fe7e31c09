"""What a reader knows: one protocol for all models, and what only one of them can answer."""
