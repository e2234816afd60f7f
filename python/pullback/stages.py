"""Stages of a jitted function: traced, lowered, compiled."""

from pullback import _core
from pullback._api import _struct


class ArgInfo:
    """Type of one argument, and whether it is donated."""

    def __init__(self, aval, donated):
        self._aval, self.donated = aval, donated

    @property
    def shape(self):
        return self._aval.shape

    @property
    def dtype(self):
        return self._aval.dtype

    def __repr__(self):
        return f"ArgInfo(_aval={self._aval!r}, donated={self.donated})"

    def __eq__(self, other):
        return isinstance(other, ArgInfo) and (self._aval, self.donated) == (other._aval, other.donated)

    def __hash__(self):
        return hash((self._aval, self.donated))


class Stage:
    """What all stages know: types and structures of arguments and results."""

    def __init__(self, staged, donate_argnums, fun_name):
        self._staged, self.donate_argnums, self.fun_name = staged, tuple(donate_argnums), fun_name

    @property
    def in_tree(self):
        return self._staged.in_tree

    @property
    def out_tree(self):
        return self._staged.out_tree

    @property
    def in_avals(self):
        return self.in_tree.unflatten(self._staged.flat_in_avals)

    @property
    def out_avals(self):
        return self.out_tree.unflatten(self._staged.flat_out_avals)

    @property
    def out_info(self):
        return self.out_tree.unflatten(map(_struct, self._staged.flat_out_avals))

    @property
    def args_info(self):
        return self.in_tree.unflatten(ArgInfo(aval, False) for aval in self._staged.flat_in_avals)


class Traced(Stage):
    """A function traced to a jaxpr."""

    @property
    def jaxpr(self):
        return self._staged.jaxpr

    @property
    def effects(self):
        return self.jaxpr.effects

    def lower(self, *, lowering_platforms=None):
        """The program before compilation."""
        return Lowered(self._staged, self.donate_argnums, self.fun_name)

    def __repr__(self):
        return f"<Traced {self.fun_name}>"


class Lowered(Stage):
    """A traced function ready to be compiled."""

    def as_text(self, dialect=None, *, debug_info=False):
        """The program as text: the jaxpr in full, until StableHLO is written."""
        return f"// jaxpr of {self.fun_name}; StableHLO is not written for this backend yet\n{self._staged.jaxpr._full_text()}"

    def compile(self, compiler_options=None):
        """The program as machine code, ready to be called."""
        self._staged.compile()
        return Compiled(self._staged, self.donate_argnums, self.fun_name)

    def compiler_ir(self, dialect=None):
        return self._staged.jaxpr

    def cost_analysis(self):
        return {}


class Compiled(Stage):
    """A compiled function of arguments of fixed types."""

    def __call__(self, *args, **kwargs):
        leaves, tree = _core.tree_flatten((args, kwargs))
        if tree != self.in_tree:
            raise TypeError(_tree_mismatch(self.in_tree, tree))
        wrong = []
        names = self._staged.jaxpr.debug_info.arg_names
        for at, (leaf, aval) in enumerate(zip(leaves, self._staged.flat_in_avals)):
            given = _core.typeof(leaf)
            if (given.shape, given.dtype) != (aval.shape, aval.dtype):
                name = names[at] if at < len(names) else at
                wrong.append(f"Argument '{name}' compiled with {aval} and called with {given}")
        if wrong:
            raise TypeError(
                "Argument types differ from the types for which this computation was compiled. Perhaps you are calling the "
                "compiled executable with a different enable_x64 mode than when it was AOT compiled? The mismatches are:\n"
                + "\n".join(wrong)
            )
        return self._staged.call_flat(leaves)

    def call(self, *args, **kwargs):
        return self(*args, **kwargs)

    def as_text(self):
        """The program as text."""
        return f"// jaxpr of {self.fun_name}\n{self._staged.jaxpr._full_text()}"

    def cost_analysis(self):
        return {}

    def memory_analysis(self):
        return None

    def runtime_executable(self):
        return self._staged


def _tree_mismatch(wanted, given):
    lines = []
    for name, a, b in zip(("args", "kwargs"), wanted.children(), given.children()):
        if a == b:
            continue
        n, m = len(a.children()), len(b.children())
        if name == "args" and n != m:
            lines.append(f"at {name}, seen tuple of length {n} but now given tuple of length {m}, so the lengths do not match")
        else:
            lines.append(f"at {name}, seen {a} but now given {b}")
    count = f"There are {len(lines)} mismatches, including:"
    body = "".join(f"\n    * {line}" for line in lines)
    return f"Function compiled with input pytree does not match the input pytree it was called with. {count}{body}"


def _trace(jitted, args, kwargs):
    static_argnums, static_argnames, donate_argnums, _ = jitted._options()
    staged = _core.stage_call(jitted._fun, args, kwargs or {}, static_argnums, static_argnames, "jit")
    return Traced(staged, donate_argnums, staged.name)
