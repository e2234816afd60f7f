"""Libraries that solve equations, minimize and move bodies, written for JAX, run unmodified on Pullback and give JAX's numbers."""

import pytest
from library_programs import cases, check, run

__all__ = ["run"]
PROGRAMS = ["solvers", "differential_equations", "jaxopt_solves", "e3nn_rotations", "brax_worlds"]


@pytest.mark.parametrize("program, case", cases(*PROGRAMS))
def test_results_are_those_of_jax(program, case, run):
    check(run, program, case)
