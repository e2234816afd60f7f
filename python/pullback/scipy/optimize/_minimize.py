"""`minimize` and its result: what the caller gives, limits, and what the numbers of a result mean."""

from typing import Any, NamedTuple

import numpy as _np

from pullback import _core
from pullback._core import user_error as _user_error
from pullback.numpy import linalg as _linalg
from pullback.scipy.optimize import _quasi_newton

_n = _core.numpy


class OptimizeResults(NamedTuple):
    """What a minimization found.

    Args:
      x: the last argument.
      success: whether the gradient is small enough there.
      status: 0 for success; 1 for no more steps, for "l-bfgs" 2 and 3 for no more evaluations of the function and its gradient,
        and 4 for a last step that decreased it too little; 3 for "BFGS" where nothing better was found along a direction, as
        where differences are rounding; 5 where along a direction the function seemed to decrease without end, or was NaN.
      fun: the value there.
      jac: the gradient there.
      hess_inv: an estimate of the inverse of the Hessian; None for "l-bfgs".
      nfev: how often the function was evaluated.
      njev: how often its gradient was.
      nit: how many steps were taken.
    Example:
      >>> result = jax.scipy.optimize.minimize(lambda x: ((x - 1) ** 2).sum(), jnp.zeros(2), method="BFGS")
      >>> print(result.success, result.status)
      True 0
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


def _ascent(fun, args, x):
    """The function's value, of one dtype, and direction of steepest ascent, which for complex arguments is the conjugate gradient."""
    from pullback import value_and_grad

    whole = value_and_grad(lambda x: fun(x, *args))
    real = _n.result_type(whole(x)[0], _n.real(x[:0]))

    def evaluate(x):
        value, gradient = whole(x)
        return _n.asarray(value).astype(real), _n.conj(gradient) if x.dtype.kind == "c" else gradient

    return evaluate


def _any(conditions):
    whole, *more = conditions
    for condition in more:
        whole = whole | condition
    return whole


def _status(state, is_flat, limits):
    """The number of what ended a descent: the first limit that is reached."""
    status = _n.where(state.fault != 0, state.fault, -1)
    for number, is_reached in reversed(limits.items()):
        status = _n.where(is_reached(state), number, status)
    return _n.where(is_flat, 0, status)


def _minimized(fun, x, args, curvature, gtol, norm, limits, max_calls):
    fun = _ascent(fun, args, x)
    is_flat = lambda state: _linalg.norm(state.gradient, norm) < gtol
    goes_on = lambda state: ~is_flat(state) & ~_any(is_reached(state) for is_reached in limits.values())
    state = _quasi_newton.descend(fun, x, curvature, goes_on, max_calls)
    gradient = _n.conj(state.gradient) if x.dtype.kind == "c" else state.gradient
    inverse = state.memory if isinstance(curvature, _quasi_newton.Matrix) else None
    success = is_flat(state)
    status = _status(state, success, limits)
    counts = state.n_calls, state.n_calls, state.n_steps
    return OptimizeResults(state.x, success, status, state.value, gradient, inverse, *counts)


def _bfgs(fun, x, args, *, maxiter=None, norm=_np.inf, gtol=1e-5, line_search_maxiter=10):
    maxiter = 200 * x.size if maxiter is None else maxiter
    limits = {1: lambda state: state.n_steps >= maxiter}
    return _minimized(fun, x, args, _quasi_newton.Matrix(), gtol, norm, limits, line_search_maxiter)


def _lbfgs(fun, x, args, *, maxiter=None, norm=_np.inf, maxcor=10, ftol=2.220446049250313e-09, gtol=1e-05, maxfun=None, maxgrad=None,
           maxls=20):
    limits = {
        5: lambda state: state.fault != 0,
        1: lambda state: state.n_steps >= (_np.inf if maxiter is None else maxiter),
        2: lambda state: state.n_calls >= (_np.inf if maxfun is None else maxfun),
        3: lambda state: state.n_calls >= (_np.inf if maxgrad is None else maxgrad),
        4: lambda state: state.decrease < ftol,
    }
    return _minimized(fun, x, args, _quasi_newton.LastSteps(maxcor), gtol, norm, limits, maxls)


_METHODS = {"bfgs": _bfgs, "l-bfgs-experimental-do-not-rely-on-this": _lbfgs}


def _start(x0):
    x = _n.asarray(x0)
    if x.ndim != 1:
        raise _user_error(TypeError, f"jax.scipy.optimize.minimize takes a vector x0, got shape {x.shape}; jax.flatten_util.ravel_pytree makes one of any arrays")
    return x


def _options(options, tol):
    """The options of a method, of which a general tolerance is one."""
    options = {} if options is None else dict(options)
    return options if tol is None else {"gtol": tol, **options}


def minimize(fun, x0, args=(), *, method, tol=None, options=None):
    """A local minimum of a function of a vector, by descent along quasi-Newton directions.

    After J. Nocedal and S. Wright, "Numerical Optimization" (2006), with the line search of W. Hager and H. Zhang (2005).

    Args:
      fun: the function, `fun(x, *args)`, of a vector `[n]`; it gives a real scalar and is differentiable.
      x0: where to begin: a floating vector `[n]`.
      args: a tuple of further arguments of `fun`.
      method: "BFGS", which keeps a matrix `[n, n]`, or "l-bfgs-experimental-do-not-rely-on-this", which keeps the last steps.
      tol: it has been found once the gradient's norm is below this: the option `gtol`.
      options: a mapping. Of both methods: `maxiter`, the greatest number of steps (200 for each element of `x0` for BFGS, else
        unlimited); `norm`, the order of the gradient's norm (infinity); `gtol` (1e-5). Of BFGS: `line_search_maxiter`, the
        greatest number of evaluations a step (10). Of the other: `maxls`, the same (20); `maxcor`, how many steps to keep (10);
        `ftol`, the least relative decrease of a step (2.2e-9); `maxfun` and `maxgrad`, limits of evaluations.
    Returns: an `OptimizeResults`. A result without `success` holds the best that was found.
    Raises:
      TypeError: `args` is no tuple, `x0` no floating vector, the function gives no real scalar, or there is no such option.
      ValueError: there is no such method.
    Differentiable: in forward mode alone, through the steps, of which there is an unknown number.
    Example:
      >>> result = jax.scipy.optimize.minimize(lambda x, a: ((x - a) ** 2).sum(), jnp.zeros(2), (3.0,), method="BFGS")
      >>> print(result.x.round(3), result.success)
      [3. 3.] True
    """
    if not isinstance(args, tuple):
        raise _user_error(TypeError, f"args argument to jax.scipy.optimize.minimize must be a tuple, got {args}")
    solve = _METHODS.get(str(method).lower())
    if solve is None:
        raise _user_error(ValueError, f"Method {method} not recognized; there are 'BFGS' and 'l-bfgs-experimental-do-not-rely-on-this'")
    options = _options(options, tol)
    if unknown := set(options) - set(solve.__kwdefaults__):
        raise _user_error(TypeError, f"minimize with method {method} got unexpected options {sorted(unknown)}; it knows {sorted(solve.__kwdefaults__)}")
    return solve(fun, _start(x0), args, **options)
