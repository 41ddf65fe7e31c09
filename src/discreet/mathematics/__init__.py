"""Mathematics that knows nothing of privacy or of records: roots, tilting, chains that agree, shares of a whole."""
