"""A HubSpot portal with contacts, property definitions, owners and webhooks, as its public API shows them."""
