"""The rules: what each operation asks for."""

import math as _math

from pullback.experimental.roofline._results import RooflineResult as _Result, RooflineShape as _Shape
from pullback.experimental.roofline.roofline import register_roofline as _register, register_standard_roofline as _register_standard
from pullback.extend.core import primitives as _p

_UNARY = (
    "neg sign floor ceil round is_finite exp exp2 log log2 expm1 log1p logistic sin cos tan asin acos atan sinh cosh real imag conj abs sqrt rsqrt "
    "cbrt square integer_pow not lgamma digamma bessel_i0e bessel_i1e erf erfc erf_inv"
).split()
_BINARY = "and or xor add sub mul div rem max min eq ne ge gt le lt".split()
# These ask for nothing by themselves: they move elements, are seldom, or are not counted.
_FREE = (
    "add_any stop_gradient approx_top_k cond custom_linear_solve optimization_barrier device_put fft nextafter tanh atan2 asinh acosh atanh complex "
    "one_minus_square polynomial pow population_count clz mulhi shift_left shift_right_arithmetic shift_right_logical convert_element_type "
    "bitcast_convert_type ragged_dot_general broadcast_in_dim clamp concatenate stack unstack split pad squeeze reshape rev transpose reduce_max "
    "reduce_min reduce_prod reduce_and reduce_or reduce_xor argmax argmin reduce reduce_precision sort top_k iota rng_bit_generator copy dynamic_slice "
    "dynamic_update_slice slice reduce_window reduce_window_sum reduce_window_max reduce_window_min cholesky eig eigh lu qr svd schur hessenberg "
    "tridiagonal triangular_solve random_bits random_seed random_wrap random_unwrap random_fold_in random_split random_clone threefry2x32 random_gamma "
    "igamma igammac regularized_incomplete_beta polygamma zeta igamma_grad_a random_gamma_grad pvary axis_size select_and_gather_add reduce_and"
).split()


def _found(names):
    for name in names:
        prim = getattr(_p, f"{name}_p", None)
        if prim is not None:
            yield prim


def _total(ctx):
    return _Shape.total_bytes(ctx.avals_in) + _Shape.total_bytes(ctx.avals_out)


def _elementwise(ctx, *args, **params):
    return _Result(unfused_flops=_Shape.from_aval(ctx.avals_out[0]).size, unfused_hbm_bytes=_total(ctx))


def _cumulative(factor):
    def rule(ctx, x, *, axis, **params):
        return _Result(unfused_flops=factor * x.shape[axis], unfused_hbm_bytes=_total(ctx))

    return rule


def _dot_general(ctx, lhs, rhs, *, dimension_numbers, **params):
    (contracted, _), (batch, _) = dimension_numbers
    out = _Shape.from_aval(ctx.avals_out[0])
    flops = 2 * out.size * _math.prod(lhs.shape[axis] for axis in contracted)
    # The left operand and the result are near together.
    moved = (0 if ctx.pin_lhs_in_vmem else lhs.bytes + out.bytes) + (0 if ctx.pin_rhs_in_vmem else rhs.bytes)
    return _Result(flops=flops, unfused_flops=flops, hbm_bytes=moved, unfused_hbm_bytes=moved)


def _met(size, kernel, out, stride, low, dilation, kernel_dilation):
    """How many pairs of a result and an element of the kernel along an axis meet an element of the operand."""
    inside = lambda at: 0 <= at < (size - 1) * dilation + 1 and at % dilation == 0
    return sum(inside(i * stride + k * kernel_dilation - low) for i in range(out) for k in range(kernel))


def _convolution(ctx, lhs, rhs, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, batch_group_count, **params):
    spec = dimension_numbers
    out = ctx.avals_out[0].shape
    met = 1
    for k, (stride, (low, _)) in enumerate(zip(window_strides, padding)):
        sizes = lhs.shape[spec.lhs_spec[k + 2]], rhs.shape[spec.rhs_spec[k + 2]], out[spec.out_spec[k + 2]]
        met *= _met(*sizes, stride, low, lhs_dilation[k], rhs_dilation[k])
    batch = lhs.shape[spec.lhs_spec[0]] // batch_group_count
    features = rhs.shape[spec.rhs_spec[0]] * rhs.shape[spec.rhs_spec[1]]
    return _Result(unfused_flops=2 * batch * features * met, unfused_hbm_bytes=_total(ctx))


def _select_n(ctx, which, *cases):
    return _Result(unfused_flops=_Shape.from_aval(ctx.avals_out[0]).size, unfused_hbm_bytes=which.bytes + _Shape.total_bytes(ctx.avals_out))


def _reduce_sum(ctx, x, **params):
    return _Result(unfused_flops=x.size - _Shape.from_aval(ctx.avals_out[0]).size, unfused_hbm_bytes=_total(ctx))


def _gather(ctx, x, indices, *, mode, **params):
    out = _Shape.from_aval(ctx.avals_out[0])
    # Where indices may be outside, each is compared with both bounds, and the results are selected.
    is_filled = "FILL" in str(getattr(mode, "name", mode)).upper()
    flops = 4 * indices.size + out.size if is_filled else 0
    return _Result(unfused_flops=flops, unfused_hbm_bytes=indices.bytes + 2 * out.bytes)


def _scatter(is_combined):
    def rule(ctx, x, indices, updates, **params):
        return _Result(unfused_flops=updates.size if is_combined else 0, unfused_hbm_bytes=indices.bytes + 3 * updates.bytes)

    return rule


def _axes(params):
    names = params.get("axes", params.get("axis_name"))
    names = (names,) if isinstance(names, (str, int)) else tuple(names)
    return [name for name in names if isinstance(name, str)]


def _over(ctx, params, moved, latency):
    """A collective over axes, whose links carry equal shares at once; nothing where all have size one."""
    sizes = {name: ctx.mesh.shape[name] for name in _axes(params) if ctx.mesh is not None and ctx.mesh.shape[name] > 1}
    if not sizes:
        return _Result.zeros()
    steps = int(latency(sizes))
    return _Result(ici_bytes={name: int(moved(_math.prod(sizes.values()), len(sizes))) for name in sizes}, ici_latency={name: steps for name in sizes})


def _devices(sizes):
    return _math.prod(sizes.values())


def _all_gather(ctx, x, **params):
    return _over(ctx, params, lambda n, axes: x.bytes * (n - 1) / axes, _devices)


def _reduce_scatter(ctx, x, **params):
    return _over(ctx, params, lambda n, axes: x.bytes / n * (n - 1) / axes, _devices)


def _psum(ctx, *args, **params):
    total = _Result.zeros()
    for x in args:
        total = total + _over(ctx, params, lambda n, axes: 2 * (x.bytes / n * (n - 1) / axes), lambda sizes: 2 * _devices(sizes))
    return total


def _extreme(ctx, *args, **params):
    total = _Result.zeros()
    for x in args:
        total = total + _over(ctx, params, lambda n, axes: x.dtype.itemsize * (n - 1) / axes, _devices)
    return total


def _all_to_all(ctx, x, **params):
    return _over(ctx, params, lambda n, axes: x.bytes * n / 4, lambda sizes: sum(n / 2 for n in sizes.values()))


def _ppermute(ctx, x, *, perm, axis_name):
    sizes = {name: ctx.mesh.shape[name] for name in _axes({"axis_name": axis_name})}
    n = _devices(sizes)
    if n == 1:
        return _Result.zeros()
    links, farthest = [0] * n, 0
    for source, target in perm:
        forward = (target - source) % n
        first, steps = (source, forward) if forward <= n - forward else (target, n - forward)
        farthest = max(farthest, steps)
        for k in range(steps):
            links[(first + k) % n] += 1
    return _Result(ici_bytes={name: x.bytes * max(links) for name in sizes}, ici_latency={name: farthest for name in sizes})


def _callback(ctx, *args, **params):
    return _Result(unfused_hbm_bytes=_total(ctx))


def _define_all():
    rules = [
        (_UNARY, _elementwise), (_BINARY, _elementwise), (["cummax", "cummin", "cumprod", "cumsum"], _cumulative(1)), (["cumlogsumexp"], _cumulative(2)),
        (["dot_general"], _dot_general), (["conv_general_dilated"], _convolution), (["select_n"], _select_n), (["reduce_sum"], _reduce_sum),
        (["gather"], _gather), (["scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"], _scatter(True)), (["scatter"], _scatter(False)),
        (["all_gather", "all_gather_invariant"], _all_gather), (["reduce_scatter"], _reduce_scatter), (["psum", "psum_invariant"], _psum),
        (["pmin", "pmax"], _extreme), (["all_to_all"], _all_to_all), (["ppermute"], _ppermute), (["pure_callback", "io_callback"], _callback),
    ]  # fmt: skip
    for prim in _found(_FREE):
        _register_standard(prim)
    for names, rule in rules:
        for prim in _found(names):
            _register(prim)(rule)


_define_all()
