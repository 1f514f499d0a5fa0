"""Measurements against a whole deployment on this machine; `python -m bench` writes RESULTS.md."""
