"""`jit` under its name of old."""

import warnings as _warnings


def _pjit(fun, in_shardings=None, out_shardings=None, static_argnums=None, static_argnames=None, donate_argnums=None, donate_argnames=None,
          keep_unused=False, device=None, backend=None, inline=False, compiler_options=None):  # fmt: skip
    from pullback import jit

    placed = {"in_shardings": in_shardings, "out_shardings": out_shardings}
    return jit(
        fun, static_argnums=static_argnums, static_argnames=static_argnames, donate_argnums=donate_argnums,
        donate_argnames=donate_argnames, keep_unused=keep_unused, device=device, backend=backend, inline=inline,
        compiler_options=compiler_options, **{name: value for name, value in placed.items() if value is not None},
    )  # fmt: skip


_pjit.__name__ = _pjit.__qualname__ = "pjit"


def __getattr__(name):
    if name == "pjit":
        _warnings.warn("jax.experimental.pjit.pjit has been deprecated. Please use `jax.jit` instead.", DeprecationWarning, stacklevel=2)
        return _pjit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
