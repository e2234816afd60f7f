"""Stages of a jitted function: traced, lowered, compiled."""

import dataclasses as _dataclasses
import warnings as _warnings

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._effects import check_lowerable as _check_lowerable
from pullback._api import _struct
from pullback._jit import _check_compiler_options


class ArgInfo:
    """Type of one argument, and whether it is donated.

    Attributes: `shape`, `dtype`, and the bool `donated`.
    """

    def __init__(self, aval, donated):
        self._aval, self.donated = aval, donated

    @property
    def shape(self):
        """Sizes of the axes."""
        return self._aval.shape

    @property
    def dtype(self):
        """Element type."""
        return self._aval.dtype

    def __repr__(self):
        return f"ArgInfo(_aval={self._aval!r}, donated={self.donated})"

    def __eq__(self, other):
        return isinstance(other, ArgInfo) and (self._aval, self.donated) == (other._aval, other.donated)

    def __hash__(self):
        return hash((self._aval, self.donated))


class Stage:
    """What all stages know: types and structures of arguments and results."""

    def __init__(self, staged, donate_argnums, fun_name, donated=(), keep_unused=False):
        self._staged, self.donate_argnums, self.fun_name = staged, tuple(donate_argnums), fun_name
        self._donated, self._keep_unused = list(donated), keep_unused

    def _next(self, stage):
        return stage(self._staged, self.donate_argnums, self.fun_name, self._donated, self._keep_unused)

    def _stablehlo(self, debug_info=False):
        donated, keep_unused = self._donated_inputs(), self._keep_unused
        return _core.stablehlo(self._staged.jaxpr, self.fun_name, donated, keep_unused=keep_unused, debug_info=debug_info)

    def _donated_inputs(self):
        """For each input of the jaxpr whether it is donated: values captured from an outer trace come first."""
        captured = len(self._staged.jaxpr.in_avals) - len(self._staged.flat_in_avals)
        return [False] * captured + self._donated

    @property
    def in_tree(self):
        """Structure of the arguments: of the pair of positional and keyword ones."""
        return self._staged.in_tree

    @property
    def out_tree(self):
        """Structure of the result."""
        return self._staged.out_tree

    @property
    def in_avals(self):
        """Types of the arguments, in a tree like them."""
        return self.in_tree.unflatten(self._staged.flat_in_avals)

    @property
    def out_avals(self):
        """Types of the results, in a tree like them."""
        return self.out_tree.unflatten(self._staged.flat_out_avals)

    @property
    def out_info(self):
        """Shapes and dtypes of the results, in a tree like them."""
        return self.out_tree.unflatten(map(_struct, self._staged.flat_out_avals))

    @property
    def args_info(self):
        """Types of the arguments and whether they are donated, in a tree like them."""
        donated = self._donated or [False] * len(self._staged.flat_in_avals)
        return self.in_tree.unflatten(map(ArgInfo, self._staged.flat_in_avals, donated))


class Traced(Stage):
    """A function traced to a jaxpr: what `jit(f).trace(*args)` gives.

    Attributes: `jaxpr`; `in_tree`, `out_tree`, `in_avals`, `out_info`: structures and types; `fun_name`.

    Example:
      >>> print(jax.jit(lambda x: x + 1.0).trace(2.0).jaxpr)
      { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
    """

    @property
    def jaxpr(self):
        """The `ClosedJaxpr`; tracers that the function closed over are among its `consts`."""
        return self._staged.closed_jaxpr

    @property
    def effects(self):
        """Effects of the jaxpr."""
        return frozenset(self.jaxpr.effects)

    def lower(self, *, lowering_platforms=None):
        """The program before compilation. Warns of donated arguments whose memory no result can take over.

        Raises ValueError for effects of kinds that are not registered as lowerable.
        """
        _check_lowerable(self.jaxpr.effects)
        unusable = _core.unusable_donations(self._staged.jaxpr, self._donated_inputs(), keep_unused=self._keep_unused)
        if unusable:
            _warnings.warn(
                f"Some donated buffers were not usable: {', '.join(map(str, unusable))}.\n"
                "What it means: pullback.help(\"donation\")",
                stacklevel=2,
            )
        return self._next(Lowered)

    def __repr__(self):
        return f"<Traced {self.fun_name}>"


class Lowered(Stage):
    """A traced function ready to be compiled."""

    def as_text(self, dialect=None, *, debug_info=False):
        """The program as text, for people and tools.

        Args:
          dialect: `"stablehlo"` (the default), `"hlo"` for XLA's own language before it optimizes, or `"jaxpr"` for the jaxpr in full.
          debug_info: whether every operation says which line of the user's asked for it; of StableHLO alone.

        Raises:
          ValueError: for another dialect.
          NotImplementedError: for a primitive without a StableHLO form; `"jaxpr"` still works.

        Example:
          >>> import pullback as jax, pullback.numpy as jnp
          >>> "stablehlo.sine" in jax.jit(jnp.sin).lower(1.0).as_text()
          True
        """
        _check_dialect(dialect)
        if dialect == "jaxpr":
            return self._staged.jaxpr._full_text()
        return HloComputation(self._stablehlo).as_hlo_text() if dialect == "hlo" else self._stablehlo(debug_info).text

    def compiler_ir(self, dialect=None):
        """The program as an object whose text is the StableHLO module (`str(ir)`, `ir.operation.get_asm(...)`).

        Args:
          dialect: `"stablehlo"` (the default), `"hlo"` for an object with `as_hlo_text()`, or `"jaxpr"` for the jaxpr.

        Raises:
          ValueError: for another dialect.
        """
        _check_dialect(dialect)
        if dialect == "hlo":
            return HloComputation(self._stablehlo)
        return self._staged.jaxpr if dialect == "jaxpr" else Module(self._stablehlo)

    def compile(self, compiler_options=None):
        """The program as machine code, ready to be called."""
        _check_compiler_options(compiler_options)
        self._staged.compile()
        return self._next(Compiled)

    def cost_analysis(self):
        """What the program asks for, operation by operation, before any is fused with another.

        A dict: `"flops"` (one for each element of an elementwise operation, two for each product of a contraction),
        `"transcendentals"`, `"bytes accessed"` (operands and results of every operation). A loop counts as often as it
        runs when that is known, else once; of branches the dearest counts.
        """
        made = self._stablehlo()
        return {"flops": made.flops, "transcendentals": made.transcendentals, "bytes accessed": made.bytes_accessed}


    @property
    def out_info(self):
        """Shapes and dtypes of the results, in a tree like them; programs know no weak types."""
        return self.out_tree.unflatten(_struct(aval).update(weak_type=False) for aval in self._staged.flat_out_avals)


def _placed_struct(aval):
    """The type of a result on the default device: row by row."""
    from pullback import ShapeDtypeStruct
    from pullback._device import default_device
    from pullback.experimental.layout import Format, Layout
    from pullback.sharding import SingleDeviceSharding

    place = Format(Layout(tuple(range(aval.ndim)), ()), SingleDeviceSharding(default_device()))
    return ShapeDtypeStruct(aval.shape, aval.dtype, sharding=place)


class Module:
    """A StableHLO module as text, with the names of MLIR's module by which text is asked for."""

    def __init__(self, write):
        self._write = write

    def __str__(self):
        return self._write().text

    def __repr__(self):
        return f"<StableHLO module of {len(str(self))} characters>"

    @property
    def operation(self):
        """The module itself, which stands for its operation."""
        return self

    def get_asm(self, *, enable_debug_info=False, **kwargs):
        """The text, with locations if asked for. Other options of MLIR's printer change nothing."""
        return self._write(enable_debug_info).text


class HloComputation:
    """A program in XLA's own language, as text."""

    def __init__(self, write):
        self._write = write

    def as_hlo_text(self, print_large_constants=False):
        """The text; constants that StableHLO holds as bytes are shown as `{...}`, whatever is asked for."""
        from pullback._hlo_text import translated

        return translated(self._write().text)

    def name(self):
        """The name of the module."""
        return self.as_hlo_text().split(maxsplit=2)[1].rstrip(",")

    def __repr__(self):
        return f"<HLO computation {self.name()}>"


def _check_dialect(dialect):
    if dialect not in (None, "stablehlo", "hlo", "jaxpr"):
        raise _user_error(ValueError, f"unknown dialect: {dialect}. There are 'stablehlo', 'hlo' and 'jaxpr'")


@_dataclasses.dataclass
class CompiledMemoryStats:
    """Bytes of one run. Code is not counted; aliases are results in the memory of donated arguments."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int
    generated_code_size_in_bytes: int = 0
    alias_size_in_bytes: int = 0
    host_generated_code_size_in_bytes: int = 0
    host_argument_size_in_bytes: int = 0
    host_output_size_in_bytes: int = 0
    host_alias_size_in_bytes: int = 0
    host_temp_size_in_bytes: int = 0

    @property
    def peak_memory_in_bytes(self):
        """Arguments, results and temporaries together, memory of two kinds once."""
        apart = self.argument_size_in_bytes + self.output_size_in_bytes + self.temp_size_in_bytes
        return apart - self.alias_size_in_bytes


class Compiled(Stage):
    """A compiled function of arguments of fixed types."""

    @property
    def out_info(self):
        """Shapes and dtypes of the results and how they lie in memory, in a tree like them."""
        return self.out_tree.unflatten(map(_placed_struct, self._staged.flat_out_avals))

    def _places(self, avals, of):
        return [of(_placed_struct(aval)) for aval in avals]

    @property
    def input_formats(self):
        """How arguments lie in memory: a pair of trees, of positional and of keyword ones."""
        return self.in_tree.unflatten(self._places(self._staged.flat_in_avals, lambda struct: struct.format))

    @property
    def output_formats(self):
        """How results lie in memory, in a tree like them."""
        return self.out_tree.unflatten(self._places(self._staged.flat_out_avals, lambda struct: struct.format))

    @property
    def input_shardings(self):
        """Where arguments are: a pair of trees, of positional and of keyword ones."""
        return self.in_tree.unflatten(self._places(self._staged.flat_in_avals, lambda struct: struct.sharding))

    @property
    def output_shardings(self):
        """Where results are, in a tree like them."""
        return self.out_tree.unflatten(self._places(self._staged.flat_out_avals, lambda struct: struct.sharding))

    def __call__(self, *args, **kwargs):
        leaves, tree = _core.tree_flatten((args, kwargs))
        if tree != self.in_tree:
            raise _user_error(TypeError, _tree_mismatch(self.in_tree, tree))
        for leaf in leaves:
            if isinstance(leaf, _core.Tracer):
                raise _user_error(
                    TypeError,
                    "Cannot apply JAX transformations to a function lowered and compiled for a particular signature. Detected "
                    f"argument of Tracer type {type(leaf)}."
                )
        wrong = []
        names = self._staged.jaxpr.debug_info.arg_names
        for at, (leaf, aval) in enumerate(zip(leaves, self._staged.flat_in_avals)):
            given = _core.typeof(leaf)
            if (given.shape, given.dtype) != (aval.shape, aval.dtype):
                name = names[at] if at < len(names) else at
                wrong.append(f"Argument '{name}' compiled with {aval} and called with {given}")
        if wrong:
            raise _user_error(
                TypeError,
                "Argument types differ from the types for which this computation was compiled. Perhaps you are calling the "
                "compiled executable with a different enable_x64 mode than when it was AOT compiled? The mismatches are:\n"
                + "\n".join(wrong)
            )
        return self._staged.call_flat(leaves, self._donated_inputs())

    def save(self, path):
        """Writes the machine code to a file, which programs in Rust load without Python, tracer and compiler.

        The function of the file takes the leaves of the arguments and gives the leaves of the result, in the order of
        `jax.tree.leaves`; what it closed over is in the file. It runs on machines of this kind, under the same version.

        Args:
          path: of the file.
        Raises:
          NotImplementedError: the function calls back into Python, has effects, or was not compiled for x86-64 with AVX2.
          OSError: the file cannot be written.
        Differentiable: no; it takes no arrays.
        Example:
          >>> import os, tempfile
          >>> path = os.path.join(tempfile.mkdtemp(), "sine.pullback")
          >>> jax.jit(jnp.sin).lower(jnp.zeros(3)).compile().save(path)
          >>> os.path.getsize(path) < 10_000
          True
        """
        saved = self._staged.saved()
        with open(path, "wb") as file:
            file.write(saved)

    def call(self, *args, **kwargs):
        """Runs the function, as calling it does."""
        return self(*args, **kwargs)

    def as_text(self):
        """The program that runs, as text: loops, after fusion."""
        return f"// loop program of {self.fun_name}\n{_core.inspect(self._staged).after}"

    def cost_analysis(self):
        """What one run does, counted from the loops that run.

        A dict: `"flops"` (arithmetic operations on floats), `"transcendentals"` (functions such as `sin`),
        `"bytes accessed"` (what is read and written; what is fused stays in registers and costs none). A loop of unknown
        length counts once; of branches the dearest counts.
        """
        flops, transcendentals, size = _core.run_cost(self._staged.jaxpr)
        return {"flops": flops, "transcendentals": transcendentals, "bytes accessed": size}

    def memory_analysis(self):
        """Bytes of one run, as a `CompiledMemoryStats`."""
        arguments, results, temporaries, aliases = _core.run_memory(self._staged.jaxpr, self._donated_inputs())
        return CompiledMemoryStats(arguments, results, temporaries, alias_size_in_bytes=aliases)

    def runtime_executable(self):
        """What runs: the staged function."""
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
    static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused = jitted._options()
    staged = _core.stage_call(jitted._fun, args, kwargs or {}, static_argnums, static_argnames, "jit")
    donated = _donated_leaves(staged.in_tree, len(args), static_argnums, donate_argnums, kwargs or {}, donate_argnames)
    return Traced(staged, donate_argnums, staged.name, donated, keep_unused)


def _donated_leaves(in_tree, n_args, static_argnums, donate_argnums, kwargs, donate_argnames):
    """For each leaf of the arguments whether it is donated."""
    args, named = in_tree.children()
    positions = [i for i in range(n_args) if i not in static_argnums]
    marks = [(tree, i in donate_argnums) for i, tree in zip(positions, args.children())]
    names = named.node_data()[1] if named.num_nodes > 1 else []
    marks += [(tree, name in donate_argnames) for name, tree in zip(names, named.children())]
    return [donated for tree, donated in marks for _ in range(tree.num_leaves)]


# Names that modules of ours take from here, and that are not shown.
_UNSHOWN = {
    "CompiledMemoryStats", "Module", "Stage",
}


def __dir__():
    return sorted({*globals()} - _UNSHOWN)
