"""The source papers whose results are computed again."""

from discreet_papers.reproduction import Paper

PAPER_004 = Paper(
    "004",
    "Zuhe Zhang, Benjamin Rubinstein and Christos Dimitrakakis",
    2016,
    "On the Differential Privacy of Bayesian Inference",
    "AAAI Conference on Artificial Intelligence",
)
