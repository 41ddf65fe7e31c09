"""Evidence: one function for each claim of a paper, which computes and returns what it finds."""
