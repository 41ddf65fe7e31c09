"""Posteriors: one interface for all models, and what only the posterior of one model can answer."""
