"""Differentially Private Bayesian Inference, a draft of about 2018 that bears neither date nor names."""

from discreet_papers.reproduction import Paper

PAPER_000 = Paper(
    "000",
    "Anonymous authors",
    2018,
    "Differentially Private Bayesian Inference",
    "Draft, preliminary work under review",
)
