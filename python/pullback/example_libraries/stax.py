"""Neural networks as pairs of functions.

A layer is `(init_fun, apply_fun)`: `init_fun(rng, input_shape)` gives `(output_shape, params)`, and
`apply_fun(params, inputs, rng=None)` the outputs. Layers without parameters have `()`.
"""

import functools as _functools
import math as _math

from pullback import lax as _lax, numpy as _jnp, random as _random
from pullback._core import user_error as _user_error
from pullback.nn import elu, gelu, leaky_relu, log_softmax, relu, selu, sigmoid, softmax, softplus, standardize
from pullback.nn.initializers import glorot_normal, normal, ones, zeros

glorot, randn, logsoftmax = glorot_normal, normal, log_softmax


def Dense(out_dim, W_init=glorot_normal(), b_init=normal()):
    """A layer `x @ W + b`.

    Args:
      out_dim: the number of outputs.
      W_init, b_init: initializers, functions of a key and a shape.
    Returns: a layer.
    Differentiable: yes.
    Example:
      >>> from pullback.example_libraries import stax
      >>> init, apply = stax.Dense(3)
      >>> shape, params = init(jax.random.key(0), (2, 4))
      >>> shape, apply(params, jnp.ones((2, 4))).shape
      ((2, 3), (2, 3))
    """

    def init_fun(rng, input_shape):
        k1, k2 = _random.split(rng)
        return (*input_shape[:-1], out_dim), (W_init(k1, (input_shape[-1], out_dim)), b_init(k2, (out_dim,)))

    def apply_fun(params, inputs, **kwargs):
        W, b = params
        return _jnp.dot(inputs, W) + b

    return init_fun, apply_fun


def _convolution(convolve, dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init):
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    strides = strides or (1,) * len(filter_shape)
    W_init = W_init or glorot_normal(rhs_spec.index("I"), rhs_spec.index("O"))

    def apply_kernel(inputs, W):
        return convolve(inputs, W, strides, padding, dimension_numbers=dimension_numbers)

    def init_fun(rng, input_shape):
        sizes = iter(filter_shape)
        fixed = {"O": out_chan, "I": input_shape[lhs_spec.index("C")]}
        kernel_shape = tuple(fixed[c] if c in fixed else next(sizes) for c in rhs_spec)
        bias_shape = tuple(out_chan if c == "C" else 1 for c in out_spec)
        k1, k2 = _random.split(rng)
        W, b = W_init(k1, kernel_shape), b_init(k2, bias_shape)
        return _shape_of(apply_kernel, tuple(input_shape), W.shape), (W, b)

    def apply_fun(params, inputs, **kwargs):
        W, b = params
        return apply_kernel(inputs, W) + b

    return init_fun, apply_fun


def _shape_of(fun, *shapes):
    import pullback

    return pullback.eval_shape(fun, *(pullback.ShapeDtypeStruct(shape, _jnp.float32) for shape in shapes)).shape


def GeneralConv(dimension_numbers, out_chan, filter_shape, strides=None, padding="VALID", W_init=None, b_init=normal(1e-6)):
    """A layer of a convolution.

    Args:
      dimension_numbers: the axes of inputs, kernel and outputs, such as `("NHWC", "HWIO", "NHWC")`.
      out_chan: the number of channels of the outputs.
      filter_shape: the spatial sizes of the kernel.
      strides: one for each spatial axis; by default 1.
      padding: "VALID", "SAME", or pairs.
      W_init, b_init: initializers, functions of a key and a shape.
    Returns: a layer.
    Differentiable: yes.
    Example:
      >>> from pullback.example_libraries import stax
      >>> init, apply = stax.Conv(3, (2, 2))
      >>> init(jax.random.key(0), (1, 5, 5, 2))[0]
      (1, 4, 4, 3)
    """
    return _convolution(_lax.conv_general_dilated, dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init)


def GeneralConvTranspose(dimension_numbers, out_chan, filter_shape, strides=None, padding="VALID", W_init=None, b_init=normal(1e-6)):
    """A layer of a transposed convolution, whose strides make the outputs larger.

    Args:
      dimension_numbers: the axes of inputs, kernel and outputs, such as `("NHWC", "HWIO", "NHWC")`.
      out_chan: the number of channels of the outputs.
      filter_shape: the spatial sizes of the kernel.
      strides: one for each spatial axis; by default 1.
      padding: "VALID", "SAME", or pairs.
      W_init, b_init: initializers, functions of a key and a shape.
    Returns: a layer.
    Differentiable: yes.
    Example:
      >>> from pullback.example_libraries import stax
      >>> init, apply = stax.ConvTranspose(3, (2, 2), (2, 2))
      >>> init(jax.random.key(0), (1, 5, 5, 2))[0]
      (1, 10, 10, 3)
    """
    return _convolution(_lax.conv_transpose, dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init)


Conv = _functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = _functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = _functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(axis=(0, 1, 2), epsilon=1e-5, center=True, scale=True, beta_init=zeros, gamma_init=ones):
    """A layer that gives mean 0 and variance 1 over axes, and then a learned mean and scale.

    Args:
      axis: an axis or several.
      epsilon: is added to the variance.
      center, scale: whether there is a learned mean, and a learned scale.
      beta_init, gamma_init: their initializers.
    Returns: a layer.
    Differentiable: yes.
    Example:
      >>> from pullback.example_libraries import stax
      >>> init, apply = stax.BatchNorm(axis=0)
      >>> _, params = init(jax.random.key(0), (2, 1))
      >>> apply(params, jnp.array([[1.0], [3.0]])).round(3)
      Array([[-1.],
             [ 1.]], dtype=float32)
    """
    axis = (axis,) if _jnp.isscalar(axis) else axis

    def init_fun(rng, input_shape):
        shape = tuple(size for i, size in enumerate(input_shape) if i not in axis)
        k1, k2 = _random.split(rng)
        return input_shape, (beta_init(k1, shape) if center else (), gamma_init(k2, shape) if scale else ())

    def apply_fun(params, x, **kwargs):
        beta, gamma = params
        spread = tuple(None if i in axis else slice(None) for i in range(_jnp.ndim(x)))
        z = standardize(x, axis, epsilon=epsilon)
        z = gamma[spread] * z if scale else z
        return z + beta[spread] if center else z

    return init_fun, apply_fun


def elementwise(fun, **fun_kwargs):
    """A layer that applies a function to every element.

    Args:
      fun: a function of an array.
      fun_kwargs: its keyword arguments.
    Returns: a layer.
    Differentiable: as the function is.
    Example:
      >>> from pullback.example_libraries import stax
      >>> stax.elementwise(jnp.square)[1]((), jnp.array([1.0, 3.0]))
      Array([1., 9.], dtype=float32)
    """
    return lambda rng, input_shape: (input_shape, ()), lambda params, inputs, **kwargs: fun(inputs, **fun_kwargs)


Tanh = elementwise(_jnp.tanh)
Relu = elementwise(relu)
Exp = elementwise(_jnp.exp)
LogSoftmax = elementwise(log_softmax, axis=-1)
Softmax = elementwise(softmax, axis=-1)
Softplus = elementwise(softplus)
Sigmoid = elementwise(sigmoid)
Elu = elementwise(elu)
LeakyRelu = elementwise(leaky_relu)
Selu = elementwise(selu)
Gelu = elementwise(gelu)


def _pooling_layer(reducer, initial, rescaler=None):
    def PoolingLayer(window_shape, strides=None, padding="VALID", spec=None):
        """A layer that reduces windows.

        Args:
          window_shape: the spatial sizes of a window.
          strides: one for each spatial axis; by default 1.
          padding: "VALID" or "SAME".
          spec: the axes, with "N" and "C" those that are not spatial; by default the first and the last.
        Returns: a layer.
        Differentiable: yes.
        Example:
          >>> from pullback.example_libraries import stax
          >>> init, apply = stax.MaxPool((2,), (2,), spec="NWC")
          >>> apply((), jnp.arange(4.0).reshape(1, 4, 1)).ravel()
          Array([1., 3.], dtype=float32)
        """
        strides = strides or (1,) * len(window_shape)
        batch, channel = (0, len(window_shape) + 1) if spec is None else (spec.index("N"), spec.index("C"))

        def whole(sizes):
            sizes = list(sizes)
            for i in sorted((batch, channel)):
                sizes.insert(i, 1)
            return tuple(sizes)

        window, steps = whole(window_shape), whole(strides)

        def reduce(inputs):
            return _lax.reduce_window(inputs, initial, reducer, window, steps, padding)

        def init_fun(rng, input_shape):
            if len(input_shape) != len(window):
                raise _user_error(ValueError, f"a window of {len(window) - 2} axes takes inputs of {len(window)}, got the shape {input_shape}")
            return _shape_of(reduce, tuple(input_shape)), ()

        def apply_fun(params, inputs, **kwargs):
            out = reduce(inputs)
            return rescaler(out, inputs, reduce) if rescaler else out

        return init_fun, apply_fun

    return PoolingLayer


def _mean_of_window(sums, inputs, reduce):
    """Sums over the number of elements that each window has, which is less at padded edges."""
    return sums / reduce(_jnp.ones(inputs.shape, inputs.dtype))


MaxPool = _pooling_layer(_lax.max, -_jnp.inf)
SumPool = _pooling_layer(_lax.add, 0.0)
AvgPool = _pooling_layer(_lax.add, 0.0, _mean_of_window)

Flatten = (
    lambda rng, input_shape: ((input_shape[0], _math.prod(input_shape[1:])), ()),
    lambda params, inputs, **kwargs: _jnp.reshape(inputs, (inputs.shape[0], -1)),
)
Identity = (lambda rng, input_shape: (input_shape, ()), lambda params, inputs, **kwargs: inputs)
FanInSum = (lambda rng, input_shape: (input_shape[0], ()), lambda params, inputs, **kwargs: sum(inputs))


def FanOut(num):
    """A layer that gives its inputs several times, for `parallel`.

    Args:
      num: how often.
    Returns: a layer.
    Differentiable: yes.
    Example:
      >>> from pullback.example_libraries import stax
      >>> stax.FanOut(2)[1]((), 1.0)
      [1.0, 1.0]
    """
    return lambda rng, input_shape: ([input_shape] * num, ()), lambda params, inputs, **kwargs: [inputs] * num


def FanInConcat(axis=-1):
    """A layer that joins a sequence of inputs along an axis.

    Args:
      axis: the axis.
    Returns: a layer.
    Differentiable: yes.
    Example:
      >>> from pullback.example_libraries import stax
      >>> stax.FanInConcat()[1]((), [jnp.ones(1), jnp.zeros(1)])
      Array([1., 0.], dtype=float32)
    """

    def init_fun(rng, input_shape):
        place = axis % len(input_shape[0])
        joined = sum(shape[place] for shape in input_shape)
        return (*input_shape[0][:place], joined, *input_shape[0][place + 1 :]), ()

    return init_fun, lambda params, inputs, **kwargs: _jnp.concatenate(inputs, axis)


def Dropout(rate, mode="train"):
    """A layer that keeps each element with a probability, enlarged so that the mean stays, and else gives zero.

    Args:
      rate: the probability of being kept.
      mode: "train"; with anything else all are kept.
    Returns: a layer, whose `apply_fun` needs a key.
    Raises:
      ValueError: when applied: there is no key.
    Differentiable: yes.
    Example:
      >>> from pullback.example_libraries import stax
      >>> stax.Dropout(0.5, mode="test")[1]((), jnp.ones(2), rng=jax.random.key(0))
      Array([1., 1.], dtype=float32)
    """

    def apply_fun(params, inputs, **kwargs):
        rng = kwargs.get("rng")
        if rng is None:
            raise _user_error(
                ValueError,
                "Dropout layer requires apply_fun to be called with a PRNG key argument. That is, instead of `apply_fun(params, "
                "inputs)`, call it like `apply_fun(params, inputs, rng)` where `rng` is a PRNG key (e.g. from `jax.random.key`).",
            )
        if mode != "train":
            return inputs
        return _jnp.where(_random.bernoulli(rng, rate, inputs.shape), inputs / rate, 0)

    return lambda rng, input_shape: (input_shape, ()), apply_fun


def serial(*layers):
    """The layers one after the other.

    Args:
      layers: layers.
    Returns: a layer, whose parameters are the list of theirs.
    Differentiable: as the layers are.
    Example:
      >>> from pullback.example_libraries import stax
      >>> init, apply = stax.serial(stax.Dense(8), stax.Relu, stax.Dense(2))
      >>> init(jax.random.key(0), (5, 3))[0]
      (5, 2)
    """
    init_funs, apply_funs = zip(*layers)

    def init_fun(rng, input_shape):
        params = []
        for init in init_funs:
            rng, layer_rng = _random.split(rng)
            input_shape, param = init(layer_rng, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params, inputs, **kwargs):
        for apply, param, rng in zip(apply_funs, params, _keys(kwargs.pop("rng", None), len(layers))):
            inputs = apply(param, inputs, rng=rng, **kwargs)
        return inputs

    return init_fun, apply_fun


def _keys(rng, number):
    return _random.split(rng, number) if rng is not None else (None,) * number


def parallel(*layers):
    """The layers side by side: each takes one of a sequence of inputs.

    Args:
      layers: layers.
    Returns: a layer, whose parameters are the tuple of theirs.
    Differentiable: as the layers are.
    Example:
      >>> from pullback.example_libraries import stax
      >>> init, apply = stax.serial(stax.FanOut(2), stax.parallel(stax.Dense(2), stax.Dense(2)), stax.FanInSum)
      >>> init(jax.random.key(0), (5, 3))[0]
      (5, 2)
    """
    init_funs, apply_funs = zip(*layers)

    def init_fun(rng, input_shape):
        keys = _random.split(rng, len(layers))
        shapes, params = zip(*(init(key, shape) for init, key, shape in zip(init_funs, keys, input_shape)))
        return shapes, params

    def apply_fun(params, inputs, **kwargs):
        keys = _keys(kwargs.pop("rng", None), len(layers))
        return [apply(param, x, rng=key, **kwargs) for apply, param, x, key in zip(apply_funs, params, inputs, keys)]

    return init_fun, apply_fun


def shape_dependent(make_layer):
    """A layer that is made when the shape of the inputs is known.

    Args:
      make_layer: a function from a shape to a layer.
    Returns: a layer.
    Differentiable: as the layer is.
    Example:
      >>> from pullback.example_libraries import stax
      >>> init, apply = stax.shape_dependent(lambda shape: stax.Dense(shape[-1]))
      >>> init(jax.random.key(0), (5, 3))[0]
      (5, 3)
    """

    def init_fun(rng, input_shape):
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params, inputs, **kwargs):
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init_fun, apply_fun
