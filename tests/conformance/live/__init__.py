"""The live suite: cases and behaviours against accounts that are really somebody's; see docs/live.md."""
