"""The curves of figure 1 of Zhang, Rubinstein and Dimitrakakis (2016): one file for each way to classify."""
