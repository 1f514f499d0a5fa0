"""A Salesforce org with leads, contacts, users and outbound messages, as its public API shows them."""
