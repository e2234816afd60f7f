"""`inspect`: a summary that fits a screen, stages that unfold, and kernels under the roof."""

import re

import pytest

import pullback as jax
import pullback.numpy as jnp


def network(params, x):
    for w, b in params:
        x = jnp.tanh(x @ w + b)
    return (x**2).mean()


def shown():
    params = [(jnp.ones((32, 32)), jnp.ones(32))] * 3
    return jax.inspect(jax.grad(network))(params, jnp.ones((16, 32)))


def test_the_summary_fits_a_screen():
    text = str(shown())
    assert len(text.splitlines()) <= 40 and max(map(len, text.splitlines())) <= 140, text
    assert re.match(r"\d+ equations?, \d+ after simplification, \d+ kernels?\n", text)
    for stage in ("jaxpr", "simplified", "before", "after", "machine_code", "details"):
        assert f".{stage}" in text and getattr(shown(), stage)


def test_a_notebook_unfolds_each_stage():
    html = shown()._repr_html_()
    assert html.count("<details>") == 5 and "&lt;" in html
    assert re.findall(r"<(?!/?(?:b|pre|details|summary|code)>)", html) == []


def test_details_are_all_stages():
    one = jax.inspect(jnp.sin)(1.0)
    for stage in (one.jaxpr, one.simplified, one.before, one.after, one.machine_code):
        assert stage in one.details


@pytest.mark.alone
def test_no_kernel_is_far_above_the_roof():
    parts = [int(part) for part in re.findall(r"(\d+)% of roof", jax.inspect(lambda x: jnp.sin(x) + x * 2)(jnp.ones(1000)).kernels)]
    assert parts and max(parts) <= 150, parts
