"""Solutions of systems that are differentiated by what they solve: what `pullback.lax` exports of it."""

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.tree_util import tree_leaves, tree_map, tree_structure


def custom_linear_solve(matvec, b, solve, transpose_solve=None, symmetric=False, has_aux=False):
    """The solution x of `matvec(x) = b`, whose derivatives solve systems with the same solvers.

    custom_linear_solve : (x -> b), b -> x

    The derivative does not look into `solve`: with A the matrix of `matvec`, a tangent is the solution of
    A ẋ = ḃ - Ȧ x, and the cotangent of b that of the transposed system.

    Args:
      matvec: a linear function of trees like `b`; differentiated in what it closes over.
      b: a tree of arrays.
      solve: `solve(matvec, b) -> x`; with `has_aux`, a pair of x and any tree.
      transpose_solve: `transpose_solve(vecmat, b) -> x`, a solver for the transposed matrix; needed for reverse mode
        unless the matrix is symmetric.
      symmetric: whether the matrix is its own transpose.
      has_aux: whether solvers give auxiliary data, which have no derivative.
    Returns: a tree like `b`, or a pair of it and the auxiliary data.
    Raises:
      ValueError: `matvec` or a solver gives other shapes than those of `b`.
      TypeError: reverse mode without `transpose_solve`.
    Differentiable: in `b` and in what `matvec` closes over; in reverse with `transpose_solve` or `symmetric`.
    Example:
      >>> def half(b):
      ...     return jax.lax.custom_linear_solve(lambda x: 2 * x, b, lambda matvec, b: b / 2, symmetric=True)
      >>> float(half(3.0)), float(jax.grad(half)(3.0))
      (1.5, 0.5)
    """
    structure = tree_structure(b)
    matvec = _like_b("matvec", matvec, structure)
    solve = _like_b("solve", solve, structure, has_aux)
    transposed = None
    if transpose_solve is not None:
        transpose_solve = _like_b("transpose_solve", transpose_solve, structure, has_aux)

        from pullback import linear_transpose

        like = tree_map(_struct_of, b)
        vecmat = lambda x: linear_transpose(matvec, like)(x)[0]
        transposed = lambda b: transpose_solve(vecmat, b)
    x, aux = _core.custom_linear_solve(matvec, b, lambda b: solve(matvec, b), transposed, bool(symmetric), bool(has_aux))
    return (x, aux) if has_aux else x


def _like_b(what, fun, structure, has_aux=False):
    """The function, whose result must have the structure of `b`."""

    def checked(*args):
        result = fun(*args)
        found = tree_structure(result[0] if has_aux else result)
        # Another number of leaves is told with their shapes.
        if found.num_leaves == structure.num_leaves:
            _check_tree(what, "b", found, structure)
        return result

    return checked


def _struct_of(leaf):
    from pullback import ShapeDtypeStruct

    aval = _core.typeof(leaf)
    return ShapeDtypeStruct(aval.shape, aval.dtype)


def _check_tree(what, like, found, expected):
    if found != expected:
        raise _user_error(TypeError, f"{what}() output pytree structure must match {like}, got {found} and {expected}.")


def custom_root(f, initial_guess, solve, tangent_solve, has_aux=False):
    """A root x of `f(x) = 0`, differentiated by the implicit function theorem.

    custom_root : (x -> x), x -> x

    The derivative does not look into `solve`: from f(x, p) = 0 comes ∂f/∂x ẋ = -∂f/∂p ṗ, where p is all that `f` closes
    over.

    Args:
      f: a function of trees like `initial_guess` with results of the same structure.
      initial_guess: a tree of arrays; the root does not depend on it.
      solve: `solve(f, initial_guess) -> x`; with `has_aux`, a pair of x and any tree, which has no derivative.
      tangent_solve: `tangent_solve(g, y) -> x` solves the linear system g(x) = y. It must be linear in y, and be
        transposable for reverse mode.
      has_aux: whether `solve` gives auxiliary data.
    Returns: a tree like `initial_guess`, or a pair of it and the auxiliary data.
    Raises:
      TypeError: `f`, `solve` or `tangent_solve` gives another structure.
    Differentiable: in what `f` closes over, forward and in reverse; not in `initial_guess`.
    Example:
      >>> def square_root(a):
      ...     f = lambda x: x * x - a
      ...     return jax.lax.custom_root(f, 1.0, lambda f, x: jax.lax.stop_gradient(a) ** 0.5, lambda g, y: y / g(1.0))
      >>> float(jax.grad(square_root)(4.0))
      0.25
    """
    from pullback import custom_jvp, jvp
    from pullback.custom_derivatives import SymbolicZero

    guess = tree_map(_core.numpy.asarray, initial_guess)
    guess_tree = tree_structure(guess)
    equation = _core.stage_call(f, (guess,), {})
    _check_tree("f", "initial_guess", equation.out_tree, guess_tree)

    def solution(guess):
        out = solve(f, guess)
        x, aux = out if has_aux else (out, None)
        _check_tree("solve", "initial_guess", tree_structure(x), guess_tree)
        return x, aux

    solver = _core.stage_call(solution, (guess,), {})
    # Both functions see what they close over as arguments, so that the derivative does.
    root = custom_jvp(lambda params, others, guess: solver.call_closed(others, tree_leaves(guess)))

    def derivative(primals, tangents):
        params, others, guess = primals
        x, aux = root(params, others, guess)
        dots = tangents[0]
        moving = [i for i, dot in enumerate(dots) if not isinstance(dot, SymbolicZero)]
        no_change = tree_map(SymbolicZero.from_primal_value, (x, aux))
        if not moving:
            return (x, aux), no_change

        def at_solution(*values):
            given = list(params)
            for i, value in zip(moving, values):
                given[i] = value
            return equation.call_closed(given, tree_leaves(x))

        _, change = jvp(at_solution, [params[i] for i in moving], [dots[i] for i in moving])
        g = lambda v: jvp(lambda x: equation.call_closed(params, tree_leaves(x)), (x,), (v,))[1]
        dot = tangent_solve(g, tree_map(lambda y: -y, change))
        _check_tree("tangent_solve", "x", tree_structure(dot), guess_tree)
        return (x, aux), (dot, no_change[1])

    root.defjvp(derivative, symbolic_zeros=True)
    x, aux = root(equation.captured, solver.captured, guess)
    return (x, aux) if has_aux else x
