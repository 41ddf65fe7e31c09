"""A release as a likelihood of cell probabilities, by which any model that gives cell probabilities can be read."""
