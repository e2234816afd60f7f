"""flax.nnx: modules with state, an optimizer object, and a scan over layers, trained."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from task import CLASSES, HIDDEN, PIXELS, digits, report

images, labels = map(jnp.asarray, digits())


class Dense(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(PIXELS, HIDDEN, rngs=rngs)
        self.norm = nnx.BatchNorm(HIDDEN, momentum=0.9, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.output = nnx.Linear(HIDDEN, CLASSES, rngs=rngs)

    def __call__(self, x):
        return self.output(self.dropout(nnx.relu(self.norm(self.hidden(x)))))


class Block(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(HIDDEN, HIDDEN, rngs=rngs)

    def __call__(self, x):
        return x + nnx.tanh(self.linear(x))


class Deep(nnx.Module):
    def __init__(self, rngs):
        @nnx.split_rngs(splits=3)
        @nnx.vmap(in_axes=(0,), out_axes=0)
        def blocks(rngs):
            return Block(rngs)

        self.input, self.blocks, self.output = nnx.Linear(PIXELS, HIDDEN, rngs=rngs), blocks(rngs), nnx.Linear(HIDDEN, CLASSES, rngs=rngs)

    def __call__(self, x):
        @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
        def forward(x, block):
            return block(x)

        return self.output(forward(self.input(x), self.blocks))


def train(make):
    model = make(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        def loss(model):
            return optax.softmax_cross_entropy_with_integer_labels(model(images), labels).mean()

        value, grads = nnx.value_and_grad(loss)(model)
        optimizer.update(model, grads)
        return value

    return [step(model, optimizer) for _ in range(6)]


def split_and_merge():
    model = Dense(nnx.Rngs(0))
    model.eval()
    graph, state = nnx.split(model)
    again = nnx.merge(graph, jax.tree.map(lambda x: x, state))
    return [jnp.abs(again(images) - model(images)).max(), float(len(jax.tree.leaves(state)))]


report({"dense": train(Dense), "scan over layers": train(Deep), "split and merge": split_and_merge()})
