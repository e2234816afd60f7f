"""Every way out of a traced value, inside of every transformation: what `test_conversions.py` compares with JAX.

`python tests/py/conversions.py` runs all of it on JAX and writes `golden/conversions.txt`, the recorded answers.
"""

import array
import copy
import ctypes
import decimal
import fractions
import functools
import io
import json
import math
import operator
import os
import pickle
import struct
import sys
import warnings

import numpy as np

RECORDED = os.path.join(os.path.dirname(__file__), "golden", "conversions.txt")


def _stored(x):
    memory = np.zeros(1)
    memory[0] = x
    return memory


# Of each conversion: `j` stands for the system, `n` for its `numpy`, `x` for the value.
CONVERSIONS = {
    "float": lambda j, n, x: float(x),
    "int": lambda j, n, x: int(x),
    "bool": lambda j, n, x: bool(x),
    "complex": lambda j, n, x: complex(x),
    "complex second": lambda j, n, x: complex(1, x),
    "index": lambda j, n, x: operator.index(x),
    "range": lambda j, n, x: list(range(x)),
    "list index": lambda j, n, x: [5, 6, 7, 8][x],
    "str times": lambda j, n, x: "a" * x,
    "if": lambda j, n, x: 1.0 if (x > 0) else 2.0,
    "not": lambda j, n, x: not x,
    "in list": lambda j, n, x: x in [1.0, 2.5],
    "min": lambda j, n, x: min(x, 2.0),
    "sorted": lambda j, n, x: sorted([x, 1.0])[0],
    "contains": lambda j, n, x: 2.5 in x,
    "np.sin": lambda j, n, x: np.sin(x),
    "np.square": lambda j, n, x: np.square(x),
    "np.add": lambda j, n, x: np.add(x, 1.0),
    "np.multiply": lambda j, n, x: np.multiply(np.ones(3), x),
    "np.dot": lambda j, n, x: np.dot(x, x),
    "np.maximum": lambda j, n, x: np.maximum(x, 1),
    "np.asarray": lambda j, n, x: np.asarray(x),
    "np.array": lambda j, n, x: np.array(x),
    "np.array of list": lambda j, n, x: np.array([x, x]),
    "np.float32": lambda j, n, x: np.float32(x),
    "np.sum": lambda j, n, x: np.sum(x),
    "np.mean": lambda j, n, x: np.mean(x),
    "np.reshape": lambda j, n, x: np.reshape(x, (-1,)),
    "np.where": lambda j, n, x: np.where(x > 0, 1.0, 2.0),
    "np.isnan": lambda j, n, x: np.isnan(x),
    "np.allclose": lambda j, n, x: np.allclose(x, 1.0),
    "np.linalg.norm": lambda j, n, x: np.linalg.norm(x),
    "np scalar times": lambda j, n, x: np.float32(2) * x,
    "np array plus": lambda j, n, x: np.zeros(3, np.float32) + x,
    "np index": lambda j, n, x: np.arange(5)[x],
    "np store": lambda j, n, x: _stored(x),
    "np.save": lambda j, n, x: np.save(io.BytesIO(), x),
    "math.sin": lambda j, n, x: math.sin(x),
    "math.isnan": lambda j, n, x: math.isnan(x),
    "math.floor": lambda j, n, x: math.floor(x),
    "math.trunc": lambda j, n, x: math.trunc(x),
    "round": lambda j, n, x: round(x),
    "round to": lambda j, n, x: round(x, 1),
    "abs": lambda j, n, x: abs(x),
    "divmod": lambda j, n, x: divmod(x, 2)[1],
    "struct.pack": lambda j, n, x: struct.pack("f", x),
    "array.array": lambda j, n, x: array.array("f", [x]),
    "ctypes": lambda j, n, x: ctypes.c_float(x).value,
    "Fraction": lambda j, n, x: fractions.Fraction(x),
    "Decimal": lambda j, n, x: decimal.Decimal(x),
    "json": lambda j, n, x: json.dumps(x),
    "item": lambda j, n, x: x.item(),
    "tolist": lambda j, n, x: x.tolist(),
    "tobytes": lambda j, n, x: x.tobytes(),
    "__array__": lambda j, n, x: x.__array__(),
    "__dlpack__": lambda j, n, x: x.__dlpack__(),
    "memoryview": lambda j, n, x: memoryview(x),
    "bytes": lambda j, n, x: bytes(x),
    "format": lambda j, n, x: format(x, ".3f"),
    "f-string": lambda j, n, x: len(f"{x}") > 0,
    "percent": lambda j, n, x: "%f" % x,
    "repr": lambda j, n, x: len(repr(x)) > 0,
    "pickle": lambda j, n, x: len(pickle.dumps(x)) > 0,
    "copy": lambda j, n, x: copy.copy(x),
    "deepcopy": lambda j, n, x: copy.deepcopy(x),
    "hash": lambda j, n, x: hash(x),
    "len": lambda j, n, x: len(x),
    "iterate": lambda j, n, x: functools.reduce(operator.add, x),
    "unpack": lambda j, n, x: [*x][0],
    "device_get": lambda j, n, x: j.device_get(x),
    "device_put": lambda j, n, x: j.device_put(x),
    "jax.block_until_ready": lambda j, n, x: j.block_until_ready(x),
    "block_until_ready": lambda j, n, x: x.block_until_ready(),
    "devices": lambda j, n, x: len(x.devices()),
    "shards": lambda j, n, x: len(x.addressable_shards),
    "pointer": lambda j, n, x: x.unsafe_buffer_pointer() > 0,
    "x.copy": lambda j, n, x: x.copy(),
    "jnp.array": lambda j, n, x: n.array(x),
    "jnp.array of list": lambda j, n, x: n.array([x, x]),
    "jnp.zeros": lambda j, n, x: n.zeros(x),
    "jnp.eye": lambda j, n, x: n.eye(x),
    "jnp index": lambda j, n, x: n.arange(5.0)[x],
    "stop_gradient": lambda j, n, x: float(j.lax.stop_gradient(x)),
}

INPUTS = {
    "float": lambda n: n.asarray(2.5),
    "vector": lambda n: n.asarray([2.5, -1.0, 3.0]),
    "int": lambda n: n.asarray(3),
    "bool": lambda n: n.asarray(True),
    "complex": lambda n: n.asarray(1 + 2j),
}


def _loss(j, f):
    return lambda x: j.numpy.real(j.numpy.sum(f(x)) * 1.0)


def _tangent(j, x):
    is_inexact = j.numpy.issubdtype(x.dtype, j.numpy.inexact)
    return j.numpy.ones_like(x) if is_inexact else np.zeros(x.shape, j.dtypes.float0)


def _custom_jvp(j, f, x):
    g = j.custom_jvp(f)
    g.defjvp(lambda primals, tangents: (primals[0] * 2, tangents[0] * 2))
    return j.grad(_loss(j, g))(x)


def _custom_jvp_rule(j, f, x):
    g = j.custom_jvp(lambda x: x * 1)
    g.defjvp(lambda primals, tangents: (f(primals[0]), tangents[0] * 2))
    return j.jvp(g, (x,), (_tangent(j, x),))


def _custom_vjp(j, f, x):
    g = j.custom_vjp(f)
    g.defvjp(lambda x: (x * 2, None), lambda residuals, ct: (ct * 3,))
    return j.grad(_loss(j, g))(x)


def _custom_vjp_forward(j, f, x):
    g = j.custom_vjp(lambda x: x * 1)
    g.defvjp(lambda x: (f(x), None), lambda residuals, ct: (ct * 3,))
    return j.grad(_loss(j, g))(x)


def _custom_vjp_backward(j, f, x):
    g = j.custom_vjp(lambda x: x * 1)
    g.defvjp(lambda x: (x * 1, x), lambda x, ct: (f(x) * 0 + ct,))
    return j.grad(_loss(j, g))(x)


# Of each transformation: what it makes of the function `f` at `x`.
TRANSFORMS = {
    "none": lambda j, f, x: f(x),
    "grad": lambda j, f, x: j.grad(_loss(j, f), allow_int=True)(x),
    "value_and_grad": lambda j, f, x: j.value_and_grad(_loss(j, f), allow_int=True)(x),
    "jvp": lambda j, f, x: j.jvp(f, (x,), (_tangent(j, x),)),
    "vjp": lambda j, f, x: j.vjp(f, x)[0],
    "linearize": lambda j, f, x: j.linearize(f, x)[0],
    "jacfwd": lambda j, f, x: j.jacfwd(f)(x),
    "jacrev": lambda j, f, x: j.jacrev(f)(x),
    "hessian": lambda j, f, x: j.hessian(_loss(j, f))(x),
    "grad of grad": lambda j, f, x: j.grad(lambda x: _loss(j, j.grad(_loss(j, f)))(x))(x),
    "closure": lambda j, f, x: j.grad(_loss(j, lambda x: j.grad(lambda y: y * _loss(j, f)(x))(2.0)))(x),
    "vmap": lambda j, f, x: j.vmap(f)(j.numpy.stack([x, x])),
    "vmap unmapped": lambda j, f, x: j.vmap(lambda i: f(x))(j.numpy.arange(2)),
    "vmap of grad": lambda j, f, x: j.vmap(j.grad(_loss(j, f), allow_int=True))(j.numpy.stack([x, x])),
    "grad of vmap": lambda j, f, x: j.grad(_loss(j, j.vmap(f)), allow_int=True)(j.numpy.stack([x, x])),
    "jit": lambda j, f, x: j.jit(f)(x),
    "jit of grad": lambda j, f, x: j.jit(j.grad(_loss(j, f), allow_int=True))(x),
    "grad of jit": lambda j, f, x: j.grad(_loss(j, j.jit(f)), allow_int=True)(x),
    "checkpoint": lambda j, f, x: j.checkpoint(f)(x),
    "grad of checkpoint": lambda j, f, x: j.grad(_loss(j, j.checkpoint(f)), allow_int=True)(x),
    "custom_jvp body": _custom_jvp,
    "custom_jvp rule": _custom_jvp_rule,
    "custom_vjp body": _custom_vjp,
    "custom_vjp forward": _custom_vjp_forward,
    "custom_vjp backward": _custom_vjp_backward,
    "scan": lambda j, f, x: j.lax.scan(lambda c, y: (c, f(y)), 0, j.numpy.stack([x, x]))[1],
    "grad of scan": lambda j, f, x: j.grad(
        lambda x: j.lax.scan(lambda c, y: (c + _loss(j, f)(y), None), 0.0, j.numpy.stack([x, x]))[0], allow_int=True)(x),
    "cond": lambda j, f, x: j.lax.cond(j.numpy.asarray(True), lambda x: f(x), lambda x: f(x), x),
    "while": lambda j, f, x: j.lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, c[1] + _loss(j, f)(x)), (0, 0.0)),
    "while condition": lambda j, f, x: j.lax.while_loop(lambda c: _loss(j, f)(c) < -1e6, lambda c: c, x),
    "make_jaxpr": lambda j, f, x: len(j.make_jaxpr(f)(x).out_avals),
    "eval_shape": lambda j, f, x: j.eval_shape(f, x).shape,
}


def _combined(result, x):
    """What the transformed function gives: the product with what was converted, so that a lost derivative shows."""
    is_number = isinstance(result, (int, float, complex, np.generic, np.ndarray)) or hasattr(result, "aval")
    return result * x if is_number else x * 1


def _text(value):
    if isinstance(value, (tuple, list)):
        return "(" + " ".join(map(_text, value)) + ")"
    if getattr(value, "dtype", None) is not None and value.dtype.names is not None:
        return f"float0{value.shape}".replace(" ", "")
    number = np.asarray(value)
    if number.dtype.kind not in "biufc":
        return type(value).__name__
    shown = ",".join(f"{complex(item):.4g}" if number.dtype.kind == "c" else f"{float(item) + 0.0:.4g}" for item in number.ravel())
    return f"{number.dtype}{list(number.shape)}:{shown}".replace(" ", "")


def outcome(system, transform, given, conversion):
    """What a transformation gives of a function that converts: the class of an exception, or the numbers."""
    convert = CONVERSIONS[conversion]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = INPUTS[given](system.numpy)
        try:
            result = TRANSFORMS[transform](system, lambda x: _combined(convert(system, system.numpy, x), x), x)
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
        return _text(result)


def recorded():
    """The answers of JAX: from transformation, input and conversion to the outcome."""
    answers = {}
    with open(RECORDED, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                given, conversion, answer, transforms = line.rstrip("\n").split(" | ")
                answers |= {(transform, given, conversion): answer for transform in transforms.split(", ")}
    return answers


def _record():
    import jax

    groups = {}
    for given in INPUTS:
        for conversion in CONVERSIONS:
            for transform in TRANSFORMS:
                answer = outcome(jax, transform, given, conversion)
                groups.setdefault((given, conversion, answer), []).append(transform)
        print(given, len(groups), file=sys.stderr)
    with open(RECORDED, "w", encoding="utf-8") as file:
        file.write(f"# What JAX {jax.__version__} gives; see conversions.py.\n")
        for (given, conversion, answer), transforms in groups.items():
            file.write(f"{given} | {conversion} | {answer} | {', '.join(transforms)}\n")


if __name__ == "__main__":
    _record()
