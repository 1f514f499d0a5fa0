"""The cases that every CRM's adapter has to pass."""

import pytest

# here, since whoever imports a module of this package first decides whether its assertions tell what they saw
pytest.register_assert_rewrite("tests.conformance.cases", "tests.conformance.evidence")
