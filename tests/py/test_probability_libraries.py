"""Libraries of distributions and samplers, written for JAX, run unmodified on Pullback and give JAX's numbers."""

import pytest
from library_programs import cases, check, run

__all__ = ["run"]
PROGRAMS = ["numpyro_models", "distrax_flows", "blackjax_chains"]


@pytest.mark.parametrize("program, case", cases(*PROGRAMS))
def test_results_are_those_of_jax(program, case, run):
    check(run, program, case)
