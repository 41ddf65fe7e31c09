"""Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014), Robust and Private Bayesian Inference."""

from discreet_papers.reproduction import Paper

PAPER_002 = Paper(
    "002",
    "Christos Dimitrakakis, Blaine Nelson, Aikaterini Mitrokotsa and Benjamin Rubinstein",
    2014,
    "Robust and Private Bayesian Inference",
    "International Conference on Algorithmic Learning Theory",
)
