"""A draft of Differentially Private Bayesian Inference (no date, no authors): local sensitivity of coin flips."""

from discreet.reproductions.reproduction import Paper

PAPER_000 = Paper(
    "000",
    "Anonymous authors",
    2018,
    "Differentially Private Bayesian Inference",
    "Draft, preliminary work under review",
)
