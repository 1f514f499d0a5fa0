"""A stand-in for Anthropic's Messages API: it answers with plans, and with whatever a script says instead."""
