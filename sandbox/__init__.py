"""Local CRMs over HTTP: witnesses that hold records, keep a log and break on demand."""
