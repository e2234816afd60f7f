"""Tables from primitives to rules, which libraries read and write."""

from pullback._core import user_error as _user_error



class RuleTable(dict):
    """Rules by primitive.

    Rules of the core's own primitives are written in Rust and are not in here; setting one raises NotImplementedError,
    since the core would not ask for it.
    """

    def __init__(self, what):
        super().__init__()
        self.what = what

    def __setitem__(self, primitive, rule):
        if primitive.is_core:
            raise _user_error(
                NotImplementedError,
                f"the {self.what} of {primitive.name!r} is the core's own and cannot be replaced; wrap the function in "
                "jax.custom_jvp or jax.custom_vjp, or define a primitive of your own"
            )
        super().__setitem__(primitive, rule)

    def __missing__(self, primitive):
        raise KeyError(f"no {self.what} was set for primitive {primitive}")
