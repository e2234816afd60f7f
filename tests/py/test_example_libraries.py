"""`jax.example_libraries` beside live JAX: optimizers, schedules, states as trees, layers."""

import importlib

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")

PARAMS = {"w": np.array([[1.0, -2.0, 0.5], [0.3, 0.0, -1.0]], np.float32), "b": (np.array([0.1, 0.2], np.float32), np.float32(3.0))}
OPTIMIZERS = {
    "sgd": (0.1,), "momentum": (0.1, 0.9), "nesterov": (0.1, 0.9), "adagrad": (0.1, 0.8), "rmsprop": (0.1, 0.8, 1e-6),
    "rmsprop_momentum": (0.1, 0.8, 1e-6, 0.7), "adam": (0.1, 0.8, 0.9), "adamax": (0.1, 0.8, 0.9), "sm3": (0.1, 0.8),
}  # fmt: skip
SCHEDULES = {
    "constant": (0.1,), "exponential_decay": (0.1, 3, 0.5), "inverse_time_decay": (0.1, 3, 0.5), "polynomial_decay": (0.1, 4, 0.01, 2.0),
    "piecewise_constant": ([2, 5], [0.1, 0.05, 0.01]), "inverse_time_decay in stairs": (0.1, 3, 0.5, True),
}  # fmt: skip
LAYERS = {
    "Dense": (lambda s: s.Dense(3), (2, 4)),
    "Conv": (lambda s: s.Conv(3, (2, 3), (2, 1), "SAME"), (1, 5, 5, 2)),
    "ConvTranspose": (lambda s: s.ConvTranspose(3, (2, 2), (2, 2)), (1, 3, 3, 2)),
    "Conv1DTranspose": (lambda s: s.Conv1DTranspose(3, (2,), (2,)), (1, 3, 2)),
    "GeneralConv": (lambda s: s.GeneralConv(("NCH", "OIH", "NCH"), 3, (2,)), (2, 4, 5)),
    "BatchNorm": (lambda s: s.BatchNorm(), (2, 3, 3, 2)),
    "BatchNorm without scale": (lambda s: s.BatchNorm(axis=0, scale=False), (4, 2)),
    "BatchNorm without center": (lambda s: s.BatchNorm(axis=(0, 2), center=False), (4, 2, 3)),
    "pools": (lambda s: s.serial(s.MaxPool((2, 2)), s.AvgPool((2, 3), (1, 2), "SAME"), s.SumPool((2, 2), spec="NHWC")), (1, 6, 6, 2)),
    "Dropout": (lambda s: s.Dropout(0.7), (3, 4)),
    "Dropout when tested": (lambda s: s.Dropout(0.7, mode="test"), (3, 4)),
    "elementwise": (lambda s: s.serial(s.Tanh, s.Relu, s.Exp, s.Softplus, s.Sigmoid, s.Elu, s.LeakyRelu, s.Selu, s.Gelu, s.LogSoftmax, s.Softmax), (2, 4)),
    "fans": (lambda s: s.serial(s.FanOut(2), s.parallel(s.Dense(3), s.Identity), s.FanInConcat(), s.Flatten), (2, 3)),
    "sum": (lambda s: s.serial(s.Dense(3), s.FanOut(2), s.parallel(s.Identity, s.serial(s.Dense(3), s.Dropout(0.5))), s.FanInSum), (2, 3)),
    "shape_dependent": (lambda s: s.shape_dependent(lambda shape: s.Dense(shape[-1] + 1)), (2, 3)),
}  # fmt: skip


def both(function):
    """What a function of a system and its two libraries gives, as NumPy arrays."""
    found = []
    for system in (jax, pullback):
        parts = [importlib.import_module(f"{system.__name__}.example_libraries.{name}") for name in ("optimizers", "stax")]
        result = function(system, *parts)
        found.append([np.asarray(x) for x in system.tree.leaves(result)])
    return found


def agree(function, rtol=2e-6):
    wanted, found = both(function)
    assert [(x.shape, x.dtype) for x in found] == [(x.shape, x.dtype) for x in wanted]
    for x, y in zip(found, wanted):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=2e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_those_of_jax(name):
    def run(system, optimizers, _):
        params = {"w": PARAMS["w"], "b": PARAMS["b"][0]} if name == "sm3" else PARAMS
        init, update, get_params = getattr(optimizers, name)(optimizers.exponential_decay(*OPTIMIZERS[name][:1], 2, 0.5), *OPTIMIZERS[name][1:])
        state = init(params)
        for i in range(4):
            state = update(i, system.tree.map(lambda x: 0.3 * x * x - 0.2, get_params(state)), state)
        if name == "sm3":  # What its state holds besides is JAX's own affair.
            return get_params(state)
        packed = optimizers.pack_optimizer_state(optimizers.unpack_optimizer_state(state))
        return get_params(state), packed, system.jit(update)(4, get_params(state), state)

    agree(run)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_those_of_jax(name):
    agree(lambda _, optimizers, __: [getattr(optimizers, name.split()[0])(*SCHEDULES[name])(i) for i in range(8)])


def test_gradients_are_clipped_as_by_jax():
    agree(lambda _, optimizers, __: [optimizers.l2_norm(PARAMS), *(optimizers.clip_grads(PARAMS, norm) for norm in (1.0, 100.0))])


WRONG = {
    "another tree": lambda o: (lambda init, update, _: update(0, {"w": 1.0}, init(PARAMS)))(*o.sgd(0.1)),
    "another state": lambda o: (lambda init, update, _: update(0, 1.0, init(1.0)))(*o.optimizer(lambda: (lambda x: x, lambda i, g, x: (x, x), lambda x: x))()),
    "no schedule": lambda o: o.make_schedule(np.ones(2)),
    "boundaries": lambda o: o.piecewise_constant([1, 2], [0.1]),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_those_of_jax(name):
    texts = []
    for system in (jax, pullback):
        with pytest.raises((TypeError, ValueError)) as caught:
            WRONG[name](importlib.import_module(f"{system.__name__}.example_libraries.optimizers"))
        texts.append(f"{type(caught.value).__name__}: {str(caught.value).splitlines()[0][:60]}")
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_those_of_jax(name):
    make, shape = LAYERS[name]

    def run(system, _, stax):
        init, apply = make(stax)
        out_shape, params = init(system.random.key(0), shape)
        x = np.cos(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)
        out = apply(params, x, rng=system.random.key(1))
        weights = np.sin(np.arange(out.size, dtype=np.float32)).reshape(out.shape)
        slopes = system.grad(lambda p, x: (apply(p, x, rng=system.random.key(1)) * weights).sum(), argnums=(0, 1))(params, x)
        return np.array(out_shape), params, out, slopes

    agree(run, rtol=2e-5)
