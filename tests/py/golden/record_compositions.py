"""Records `compositions.json` with real JAX: ``python tests/py/golden/record_compositions.py``.

Every case is traced by JAX, and the jaxpr is run equation by equation by JAX's own operations: compiling each of some
ten thousand programs with loops would take hours. `--compiled N` has JAX run every Nth case itself too and compares.
Weak types depend on whether a function is traced, so those of the function that has them come from such a run.
"""

import argparse
import json
from pathlib import Path

import jax
import numpy as np
from jax.extend import core

from compositions import cases, program

PATH = Path(__file__).with_name("compositions.json")


def run(jaxpr, consts, args):
    """The results of a jaxpr, with loops and branches run in Python."""
    env = dict(zip(jaxpr.constvars, consts)) | dict(zip(jaxpr.invars, args))
    read = lambda atom: atom.val if isinstance(atom, core.Literal) else env[atom]
    for eqn in jaxpr.eqns:
        outs = apply(eqn.primitive, eqn.params, [read(atom) for atom in eqn.invars])
        env.update(zip(eqn.outvars, outs))
    return [read(atom) for atom in jaxpr.outvars]


def call(closed, args):
    return run(closed.jaxpr, closed.consts, args)


def apply(primitive, params, args):
    if inner := params.get("call_jaxpr"):
        return call(inner, args)
    if primitive.name == "jit":
        return call(params["jaxpr"], args)
    if primitive.name == "remat2":
        return run(params["jaxpr"], (), args)
    if primitive.name == "cond":
        branches = params["branches"]
        return call(branches[min(max(int(args[0]), 0), len(branches) - 1)], args[1:])
    if primitive.name == "while":
        return run_while(params, args)
    if primitive.name == "scan":
        return run_scan(params, args)
    outs = primitive.bind(*args, **params)
    return outs if primitive.multiple_results else [outs]


def run_while(params, args):
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
    cond_consts, body_consts, carry = args[:n_cond], args[n_cond : n_cond + n_body], args[n_cond + n_body :]
    while True:
        (goes_on,) = call(params["cond_jaxpr"], [*cond_consts, *carry])
        if not np.any(goes_on):
            return carry
        new = call(params["body_jaxpr"], [*body_consts, *carry])
        wide = [np.reshape(goes_on, np.shape(goes_on) + (1,) * (np.ndim(c) - np.ndim(goes_on))) for c in carry]
        carry = [jax.numpy.where(w, n, c) for w, n, c in zip(wide, new, carry)]


def run_scan(params, args):
    n_consts, n_carry = (len(group) for group in params["ft_in"].unpack()[:2])
    consts, carry, xs = args[:n_consts], args[n_consts : n_consts + n_carry], args[n_consts + n_carry :]
    steps = range(params["length"])
    stacked = []
    for i in reversed(steps) if params["reverse"] else steps:
        outs = call(params["jaxpr"], [*consts, *carry, *(x[i] for x in xs)])
        carry = outs[:n_carry]
        stacked.append(outs[n_carry:])
    if params["reverse"]:
        stacked.reverse()
    return [*carry, *(jax.numpy.stack(ys) for ys in zip(*stacked))]


def outcome(function, names):
    """Facts and elements of the results, or the class of the exception."""
    try:
        f, x = program(jax, function, names)
        closed, shape = jax.make_jaxpr(f, return_shape=True)(x)
        results = call(closed, jax.tree.leaves(x))
        typed = jax.tree.leaves(f(x) if function == "weak scalar" else shape)
    except Exception as error:  # noqa: BLE001
        return next(c.__name__ for c in type(error).__mro__ if not c.__module__.startswith("jax"))
    facts = [f"{leaf.dtype}{list(leaf.shape)}{'*' * leaf.weak_type}" for leaf in typed]
    numbers = [float(f"{n:.6g}") for out in results for n in np.asarray(out).ravel()]
    return [" ".join(facts), numbers]


def check_compiled(function, names, recorded):
    """Whether JAX's own run agrees with what was recorded."""
    f, x = program(jax, function, names)
    leaves = jax.tree.leaves(f(x))
    facts = [f"{leaf.dtype}{list(leaf.shape)}{'*' * leaf.weak_type}" for leaf in leaves]
    assert " ".join(facts) == recorded[0], (function, names, facts, recorded[0])
    numbers = np.concatenate([np.asarray(leaf).ravel() for leaf in leaves])
    np.testing.assert_allclose(numbers, recorded[1], rtol=1e-4, atol=1e-5, err_msg=f"{function} {names}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiled", type=int, default=0)
    every = parser.parse_args().compiled
    assert jax.__version__.startswith("0.12"), jax.__version__
    kinds, results = [], {}
    for number, (function, names) in enumerate(cases()):
        found = outcome(function, names)
        if every and number % every == 0 and isinstance(found, list):
            check_compiled(function, names, found)
        facts, numbers = (found, None) if isinstance(found, str) else found
        if facts not in kinds:
            kinds.append(facts)
        results.setdefault(function, []).append([kinds.index(facts), *(numbers or [])])
        if number % 200 == 0:
            print(number, function, names, flush=True)
            jax.clear_caches() if number % 2000 == 0 else None
    write({"jax": jax.__version__, "kinds": kinds, "results": results})


def write(record):
    lines = [json.dumps(record["jax"]), json.dumps(record["kinds"])]
    body = ",\n".join(
        f" {json.dumps(function)}: [\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "]"
        for function, rows in record["results"].items()
    )
    PATH.write_text(f'{{"jax": {lines[0]},\n"kinds": {lines[1]},\n"results": {{\n{body}}}}}\n')
    print(f"{sum(map(len, record['results'].values()))} cases in {PATH.name}")


if __name__ == "__main__":
    main()
