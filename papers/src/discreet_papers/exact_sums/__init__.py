"""Figures of tables as exact sums: distances of posteriors, log scores and widths, where all outputs can be listed."""
