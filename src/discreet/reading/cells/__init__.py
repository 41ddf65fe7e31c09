"""A release as a likelihood of cell probabilities: what any model that says how probable its cells are is read by."""
