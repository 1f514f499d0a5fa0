"""Deliveries: one strict reading of a body, its signature, and the lead events that it carries."""
