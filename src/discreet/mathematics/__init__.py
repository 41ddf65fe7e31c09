"""Mathematics that is independent of privacy and records: distributions, divergences, roots, diagnostics of chains."""
