"""Solutions of ordinary differential equations, with gradients by the adjoint equation.

The method is that of Dormand and Prince, of order 5 with errors from order 4 [Hairer, Norsett, Wanner: Solving Ordinary
Differential Equations I, II.4 and II.5]. Values between steps are those of a quartic through both ends, their slopes
and the middle [Shampine: Some practical Runge-Kutta formulas, 1986].
"""

import functools as _functools

import numpy as _np

from pullback import _core, lax as _lax, numpy as _jnp
from pullback._core import user_error as _user_error
from pullback._jit import jit as _jit
from pullback.custom_derivatives import closure_convert as _closure_convert, custom_vjp as _custom_vjp
from pullback.flatten_util import ravel_pytree as _ravel_pytree
from pullback.tree_util import tree_leaves as _tree_leaves, tree_map as _tree_map

# Where stages lie in a step, how each is made of the slopes before it, the result of order 5, its error, and the middle.
_NODES = _np.array([1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_RESULT = _np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0])
_ERROR = _RESULT - _np.array([1951 / 21600, 0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60])
_MIDDLE = _np.array([
    6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2, -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2,
])  # fmt: skip
_STAGE_ROWS = _np.array([row + (0,) * (7 - len(row)) for row in _STAGES])


def _squares(x):
    return x.real**2 + x.imag**2 if _jnp.iscomplexobj(x) else x**2


def _like(coefficients, y):
    return _jnp.asarray(coefficients, y.real.dtype)


def _quartic(y0, y1, middle, slope0, slope1, dt):
    """Coefficients, of the highest power first, of the quartic over [0, 1] through the three values with the two slopes."""
    return _jnp.stack([
        -2 * dt * slope0 + 2 * dt * slope1 - 8 * y0 - 8 * y1 + 16 * middle,
        5 * dt * slope0 - 3 * dt * slope1 + 18 * y0 + 14 * y1 - 32 * middle,
        -4 * dt * slope0 + dt * slope1 - 11 * y0 - 5 * y1 + 16 * middle,
        dt * slope0,
        y0,
    ])  # fmt: skip


def _step(func, y0, slope0, t0, dt):
    """One step: its end, the slope there, its error, and all seven slopes."""
    slopes = _jnp.zeros((7, *slope0.shape), slope0.dtype).at[0].set(slope0)
    rows, nodes = _like(_STAGE_ROWS, slope0), _jnp.asarray(_NODES, dt.dtype)

    def stage(i, slopes):
        y = y0 + dt * _jnp.tensordot(rows[i - 1].astype(slope0.dtype), slopes, 1).astype(y0.dtype)
        return slopes.at[i].set(func(y, t0 + dt * nodes[i - 1]))

    slopes = _lax.fori_loop(1, 7, stage, slopes)
    combine = lambda weights: dt * _jnp.tensordot(_like(weights, slope0).astype(slope0.dtype), slopes, 1)  # noqa: E731
    return y0 + combine(_RESULT), slopes[-1], combine(_ERROR), slopes


def _first_step(func, t0, y0, slope0, rtol, atol):
    """A step that a look at the second derivative allows [Hairer, Norsett, Wanner I, II.4]."""
    scale = atol + _jnp.abs(y0) * rtol
    norm = lambda x: _jnp.sqrt(_jnp.sum(_squares(x / scale)))  # noqa: E731
    d0, d1 = norm(y0), norm(slope0)
    h0 = _jnp.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1)
    d2 = norm(func(y0 + h0.astype(y0.dtype) * slope0, t0 + h0) - slope0) / h0
    flat = (d1 <= 1e-15) & (d2 <= 1e-15)
    h1 = _jnp.where(flat, _jnp.maximum(1e-6, h0 * 1e-3), (0.01 / _jnp.maximum(d1, d2)) ** (1.0 / 5.0))
    return _jnp.minimum(100.0 * h0, h1)


def _next_step(dt, ratio, order=5.0):
    """The step after one whose error was `ratio` of the tolerance; not smaller after one that was good."""
    least = _jnp.where(ratio < 1, 1.0, 0.2)
    factor = _jnp.minimum(10.0, _jnp.maximum(ratio ** (-1.0 / order) * 0.9, least))
    return _jnp.where(ratio == 0, dt * 10.0, dt * factor)


def _solve(func, rtol, atol, mxstep, hmax, y0, ts):
    """The solution, a vector at each time, with one tolerance for all."""
    slope0 = func(y0, ts[0])
    dt = _jnp.clip(_first_step(func, ts[0], y0, slope0, rtol, atol), 0.0, hmax).astype(ts.dtype)

    def reach(carry, target):
        def is_before(state):
            i, _, _, t, dt, _, _ = state
            return (t < target) & (i < mxstep) & (dt > 0)

        def advance(state):
            i, y, slope, t, dt, _, _ = state
            end, end_slope, error, slopes = _step(func, y, slope, t, dt)
            tolerance = atol + rtol * _jnp.maximum(_jnp.abs(y), _jnp.abs(end))
            ratio = _jnp.sqrt(_jnp.mean(_squares(error / tolerance)))
            middle = y + dt * _jnp.tensordot(_like(_MIDDLE, slope).astype(slope.dtype), slopes, 1)
            curve = _quartic(y, end, middle, slope, end_slope, dt)
            wanted = _jnp.clip(_next_step(dt, ratio), 0.0, hmax).astype(dt.dtype)
            good = (end, end_slope, t + dt, wanted, t, curve)
            kept = (y, slope, t, wanted, state[5], state[6])
            return (i + 1, *(_jnp.where(ratio <= 1.0, new, old) for new, old in zip(good, kept)))

        _, *carry = _lax.while_loop(is_before, advance, (0, *carry))
        _, _, t, _, last, curve = carry
        return carry, _jnp.polyval(curve, ((target - last) / (t - last)).astype(curve.dtype))

    carry = [y0, slope0, ts[0], dt, ts[0], _jnp.stack([y0] * 5)]
    _, ys = _lax.scan(reach, carry, ts[1:])
    return _jnp.concatenate([y0[None], ys])


def _ravelled(func, y0):
    """The function of vectors in place of trees like `y0`, and what makes trees of vectors."""
    _, unravel = _ravel_pytree(y0)
    return lambda y, t, *args: _ravel_pytree(func(unravel(y), t, *args))[0], unravel


def _solve_tree(func, rtol, atol, mxstep, hmax, y0, ts, args):
    flat, unravel = _ravelled(func, y0)
    y0, _ = _ravel_pytree(y0)
    ys = _solve(lambda y, t: flat(y, t, *args), rtol, atol, mxstep, hmax, y0, ts)
    return _lax.map(unravel, ys) if _has_parts(unravel, y0) else ys


def _has_parts(unravel, y0):
    import pullback

    shape = pullback.eval_shape(unravel, y0)
    return not (hasattr(shape, "shape") and shape.shape == y0.shape)


@_functools.partial(_custom_vjp, nondiff_argnums=(0, 1, 2, 3, 4))
def _odeint(func, rtol, atol, mxstep, hmax, y0, ts, *args):
    return _solve_tree(func, rtol, atol, mxstep, hmax, y0, ts, args)


def _odeint_fwd(func, rtol, atol, mxstep, hmax, y0, ts, *args):
    ys = _odeint(func, rtol, atol, mxstep, hmax, y0, ts, *args)
    return ys, (ys, ts, args)


def _odeint_rev(func, rtol, atol, mxstep, hmax, residuals, cts):
    """Solves the adjoint equation backwards from time to time, where the cotangents come in."""
    import pullback

    ys, ts, args = residuals

    def adjoint(state, minus_t, *args):
        y, y_bar, _, _ = state
        slope, pull_back = pullback.vjp(lambda y, t, *args: func(y, t, *args), y, -minus_t, *args)
        y_bar, t_bar, *args_bar = pull_back(y_bar)
        return _tree_map(_jnp.negative, slope), y_bar, t_bar, tuple(args_bar)

    def back(carry, i):
        y_bar, t0_bar, args_bar = carry
        here, ct = _tree_map(lambda y: y[i], (ys, cts))
        slope = func(here, ts[i], *args)
        t_bar = sum(_jnp.sum(s * c).real for s, c in zip(_tree_leaves(slope), _tree_leaves(ct))).astype(ts.dtype)
        state = (here, y_bar, t0_bar - t_bar, args_bar)
        span = _jnp.array([-ts[i], -ts[i - 1]])
        found = _odeint(adjoint, rtol, atol, mxstep, hmax, state, span, *args)
        _, y_bar, t0_bar, args_bar = _tree_map(lambda x: x[1], found)
        y_bar = _tree_map(lambda a, c: a + c[i - 1], y_bar, cts)
        return (y_bar, t0_bar, args_bar), t_bar

    last = _tree_map(lambda c: c[-1], cts)
    zeros = _tree_map(_jnp.zeros_like, tuple(args))
    start = (last, _jnp.zeros((), ts.dtype), zeros)
    (y_bar, t0_bar, args_bar), t_bars = _lax.scan(back, start, _jnp.arange(len(ts) - 1, 0, -1))
    return (y_bar, _jnp.concatenate([t0_bar[None], t_bars[::-1]]), *args_bar)


_odeint.defvjp(_odeint_fwd, _odeint_rev)


@_functools.partial(_jit, static_argnums=(0, 1, 2, 3, 4))
def _compiled(func, rtol, atol, mxstep, hmax, y0, ts, *args):
    return _odeint(func, rtol, atol, mxstep, hmax, y0, ts, *args)


def odeint(func, y0, t, *args, rtol=1.4e-8, atol=1.4e-8, mxstep=_jnp.inf, hmax=_jnp.inf):
    """The solution of `dy/dt = func(y, t, *args)` that begins at `y0`, at given times.

    Args:
      func: `func(y, t, *args)` gives a tree like `y0`.
      y0: the value at the first time, a tree of arrays.
      t: a vector of times, ascending.
      args: trees of arrays for `func`.
      rtol, atol: how great the error of a step may be, relative to the solution and by itself.
      mxstep: how many steps may lead to a time; where they do not suffice the value is extrapolated.
      hmax: the greatest step.
    Returns: a tree like `y0` whose leaves have a first axis for the times.
    Raises:
      TypeError: an argument is no array, the times are not floating, or the derivative is asked for in forward mode.
    Differentiable: in `y0`, `t`, `args` and in what `func` closes over, in reverse, by the adjoint equation.
    Example:
      >>> from pullback.experimental.ode import odeint
      >>> odeint(lambda y, t, rate: -rate * y, 1.0, jnp.array([0.0, 1.0]), 2.0).round(5)
      Array([1.     , 0.13534], dtype=float32)
    """
    for arg in _tree_leaves(args):
        try:
            _core.typeof(arg)
        except TypeError:
            raise _user_error(TypeError, f"The contents of odeint *args must be arrays or scalars, but got {arg}.") from None
    if not _jnp.issubdtype(t.dtype, _jnp.floating):
        raise _user_error(TypeError, f"t must be an array of floats, but got {t}.")
    converted, consts = _closure_convert(func, y0, t[0], *args)
    return _compiled(converted, rtol, atol, mxstep, hmax, y0, t, *args, *consts)
