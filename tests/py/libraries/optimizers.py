"""Twelve steps with every optimizer of optax and optax.contrib, and with its wrappers."""

import functools

import jax
import jax.numpy as jnp
import optax
from optax import contrib

from task import digits, layers, report

STEPS = 12
images, labels = map(jnp.asarray, digits())


def loss(params, images, labels):
    hidden = jax.nn.relu(images @ params["hidden"]["w"] + params["hidden"]["b"])
    scores = hidden @ params["output"]["w"] + params["output"]["b"]
    return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean()


OPTIMIZERS = {
    "adabelief": lambda: optax.adabelief(1e-2),
    "adadelta": lambda: optax.adadelta(1.0),
    "adafactor": lambda: optax.adafactor(1e-2, min_dim_size_to_factor=8),
    "adagrad": lambda: optax.adagrad(1e-1),
    "adam": lambda: optax.adam(1e-2),
    "adam, nesterov": lambda: optax.adam(1e-2, nesterov=True),
    "adamax": lambda: optax.adamax(1e-2),
    "adamaxw": lambda: optax.adamaxw(1e-2, weight_decay=1e-2),
    "adamw": lambda: optax.adamw(1e-2, weight_decay=1e-2),
    "adan": lambda: optax.adan(1e-2),
    "amsgrad": lambda: optax.amsgrad(1e-2),
    "fromage": lambda: optax.fromage(1e-1),
    "lamb": lambda: optax.lamb(1e-1),
    "lars": lambda: optax.lars(1.0, momentum=0.9),
    "lion": lambda: optax.lion(1e-3),
    "nadamw": lambda: optax.nadamw(1e-2),
    "noisy_sgd": lambda: optax.noisy_sgd(1e-1, eta=1e-4, key=jax.random.key(2)),
    "novograd": lambda: optax.novograd(1e-2),
    "optimistic_adam_v2": lambda: optax.optimistic_adam_v2(1e-2),
    "optimistic_gradient_descent": lambda: optax.optimistic_gradient_descent(1e-1),
    "polyak_sgd": lambda: optax.polyak_sgd(),
    "radam": lambda: optax.radam(1e-1),
    "rmsprop": lambda: optax.rmsprop(1e-2, centered=True, momentum=0.9),
    "rprop": lambda: optax.rprop(1e-3),
    "sgd": lambda: optax.sgd(0.5, momentum=0.9, nesterov=True),
    "sign_sgd": lambda: optax.sign_sgd(1e-3),
    "signum": lambda: optax.signum(1e-3),
    "sm3": lambda: optax.sm3(1e-1),
    "yogi": lambda: optax.yogi(1e-1),
    "contrib.acprop": lambda: contrib.acprop(1e-2),
    "contrib.ademamix": lambda: contrib.ademamix(1e-2),
    "contrib.adopt": lambda: contrib.adopt(1e-2),
    "contrib.cocob": lambda: contrib.cocob(),
    "contrib.dadapt_adamw": lambda: contrib.dadapt_adamw(),
    "contrib.dog": lambda: contrib.dog(1.0),
    "contrib.dowg": lambda: contrib.dowg(1.0),
    "contrib.mechanize": lambda: contrib.mechanize(optax.sgd(1e-1)),
    "contrib.momo": lambda: contrib.momo(1e-1),
    "contrib.momo_adam": lambda: contrib.momo_adam(1e-2),
    "contrib.muon": lambda: contrib.muon(1e-2),
    "contrib.prodigy": lambda: contrib.prodigy(),
    "contrib.sam": lambda: contrib.sam(optax.sgd(1e-1), optax.sgd(1e-2), sync_period=2),
    "contrib.schedule_free_adamw": lambda: contrib.schedule_free_adamw(1e-2),
    "contrib.simplified_ademamix": lambda: contrib.simplified_ademamix(1e-3),
    "contrib.sophia": lambda: contrib.sophia(1e-2),
    "chain with a schedule": lambda: optax.chain(
        optax.clip_by_global_norm(1.0), optax.scale_by_adam(), optax.scale_by_schedule(optax.cosine_decay_schedule(-1e-2, STEPS))
    ),
    "warm-up": lambda: optax.adam(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 3, STEPS)),
    "inject_hyperparams": lambda: optax.inject_hyperparams(optax.adamw)(learning_rate=optax.linear_schedule(1e-2, 1e-3, STEPS)),
    "lookahead": lambda: optax.lookahead(optax.sgd(1e-1), sync_period=3, slow_step_size=0.5),
    "MultiSteps": lambda: optax.MultiSteps(optax.adam(1e-2), every_k_schedule=3),
    "masked": lambda: optax.masked(optax.sgd(1e-1), {"hidden": True, "output": False}),
    "multi_transform": lambda: optax.multi_transform(
        {"fast": optax.sgd(0.5), "slow": optax.adam(1e-3)}, {"hidden": "slow", "output": "fast"}
    ),
    "apply_if_finite": lambda: optax.apply_if_finite(optax.adam(1e-2), 2),
    "add_noise": lambda: optax.chain(optax.add_noise(1e-4, 0.5, key=3), optax.sgd(1e-1)),
    "ema": lambda: optax.chain(optax.ema(0.9), optax.sgd(1e-1)),
    "adaptive_grad_clip": lambda: optax.chain(optax.adaptive_grad_clip(1e-2), optax.sgd(1e-1)),
}
# What updates take beyond gradients and parameters.
WITH_VALUE = {"polyak_sgd", "contrib.momo", "contrib.momo_adam"}
WITH_FUNCTION = {"contrib.sophia"}


def lookahead_params(name, params):
    return optax.LookaheadParams.init_synced(params) if name == "lookahead" else params


def train(name):
    """The losses before each step and after the last."""
    optimizer = OPTIMIZERS[name]()
    params = lookahead_params(name, jax.tree.map(jnp.asarray, layers()))
    of = (lambda p: loss(p.fast, images, labels)) if name == "lookahead" else (lambda p: loss(p, images, labels))

    @jax.jit
    def step(params, state):
        value, grads = jax.value_and_grad(of)(params)
        grads = grads.fast if name == "lookahead" else grads
        extra = {"value": value} if name in WITH_VALUE else {}
        extra |= {"obj_fn": of} if name in WITH_FUNCTION else {}
        updates, state = optimizer.update(grads, state, params, **extra)
        return optax.apply_updates(params, updates), state, value

    state, losses = optimizer.init(params), []
    for _ in range(STEPS):
        params, state, value = step(params, state)
        losses.append(value)
    return [*losses, of(params)]


def search(name):
    """Losses of an optimizer with a line search, in double precision: one step more or less of a search hangs on rounding."""
    with jax.enable_x64(True):
        optimizer = {"lbfgs": optax.lbfgs(), "backtracking": optax.chain(optax.sgd(1.0), optax.scale_by_backtracking_linesearch(10, store_grad=True))}[name]
        of = functools.partial(loss, images=images.astype("float64"), labels=labels)
        params = jax.tree.map(lambda x: jnp.asarray(x, "float64"), layers())
        value_and_grad = optax.value_and_grad_from_state(of)

        @jax.jit
        def step(params, state):
            value, grads = value_and_grad(params, state=state)
            updates, state = optimizer.update(grads, state, params, value=value, grad=grads, value_fn=of)
            return optax.apply_updates(params, updates), state, value

        state, losses = optimizer.init(params), []
        for _ in range(STEPS):
            params, state, value = step(params, state)
            losses.append(value)
        return [float(value) for value in losses]


report({name: train(name) for name in OPTIMIZERS} | {name: search(name) for name in ("lbfgs", "backtracking")})
