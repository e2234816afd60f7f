"""Every primitive in every application of the battery, compiled and run by a plugin, beside our own engine."""

import numpy as np
import pytest

import pullback as jax
import xla_plugin
from pullback import _core
from test_stablehlo import WITHOUT_SAMPLES, check_equal, elements, words

D = xla_plugin.devices()


@pytest.mark.parametrize("name", sorted(set(_core.primitive_names()) - WITHOUT_SAMPLES - {"custom_lin"}))
def test_primitive(name):
    rng = np.random.default_rng(0)
    for number, (jaxpr, domains) in enumerate(_core.primitive_samples(name)):
        args = [elements(rng, aval, domain) for aval, domain in zip(jaxpr.in_avals, domains)]
        run = jax.jit(jax.core.jaxpr_as_fun(jaxpr), keep_unused=True)
        want = run(*args)
        with jax.default_device(D[1]):
            got = run(*(jax.device_put(arg, D[1]) for arg in args))
        assert all(one.devices() == {D[1]} for one in got)
        check_equal([words(one) for one in got], want, f"{name} sample {number}\n{jaxpr}")
