"""Fixtures: real JAX as the oracle, where it is installed."""

import pytest

ORACLE_VERSION = (0, 12)


def _oracle():
    try:
        import jax
    except ImportError:
        return None, "real JAX is not installed"
    found = tuple(int(part) for part in jax.__version__.split(".")[:2])
    if found < ORACLE_VERSION:
        return None, f"real JAX is {jax.__version__}; the oracle needs 0.12"
    return jax, ""


@pytest.fixture(scope="session")
def jax_oracle():
    """Real JAX 0.12 or later."""
    jax, reason = _oracle()
    if jax is None:
        pytest.skip(reason)
    return jax
