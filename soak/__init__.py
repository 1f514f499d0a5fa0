"""Many leads against a schedule of every fault, held afterwards to what the witness saw."""
