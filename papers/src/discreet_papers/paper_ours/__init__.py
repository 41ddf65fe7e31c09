"""Comparisons that no paper has: which mechanism wins, which reading is honest, what a stated epsilon really is."""

from discreet_papers.reproduction import Paper

OURS = Paper("ours", "The authors of discreet", 2026, "Comparisons that no paper has", "This library")
