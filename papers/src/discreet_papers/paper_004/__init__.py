"""Zhang, Rubinstein and Dimitrakakis (2016), On the Differential Privacy of Bayesian Inference."""
