"""`leadproof doctor`: a configuration held against the real systems before it is trusted, one file per subject."""
