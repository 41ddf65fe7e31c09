"""Bun, Farina, Gaboardi and Liu (undated, about 2018), a poster on the smoothed Hellinger mechanism."""

from discreet_papers.reproduction import Paper

PAPER_001 = Paper(
    "001",
    "Mark Bun, Gian Pietro Farina, Marco Gaboardi and Jiawen Liu",
    2018,
    "Tailoring Differentially Private Bayesian Inference to Distance Between Distributions",
    "Poster",
)
