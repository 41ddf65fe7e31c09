"""Bridges from `Likelihood` to other tools: nutpie, PyMC and NumPyro. Each loads its library when it is imported."""
