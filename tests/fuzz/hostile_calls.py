"""Public functions called with hostile arguments: what ends the process, hangs, or is an error of Pullback itself.

    python tests/fuzz/hostile_calls.py --calls 20000 --seed 7 --minutes 10
    python tests/fuzz/hostile_calls.py --files --calls 5000

Calls run in worker processes with little memory. Each is one line of Python, drawn from the seed and its number alone, so a
finding is told as a line that shows it again: `python tests/fuzz/hostile_calls.py --line 'jnp.roll(x, ())'`. What is reported:
signals and aborts, calls of more than five seconds, panics and internal errors. Any other exception is as it should be. With
`--files` the lines load bytes that were tampered with (`hostile_files.py`). Lines that were found before are in `corpus.txt`;
they run first. With `--shrink` each finding is told with a smaller line that shows the same.
"""

import argparse
import ast
import contextlib
import importlib
import inspect
import operator
import os
import random
import resource
import select
import subprocess
import sys
import time
import warnings

MODULES = {
    "jnp": "numpy", "jnp.linalg": "numpy.linalg", "jnp.fft": "numpy.fft", "lax": "lax", "lax.linalg": "lax.linalg", "jax.nn": "nn",
    "jax.random": "random", "jax.ops": "ops", "jax.tree_util": "tree_util", "jax.scipy.special": "scipy.special",
    "jax.scipy.linalg": "scipy.linalg", "jax.scipy.signal": "scipy.signal", "jax.scipy.stats.norm": "scipy.stats.norm",
    "jax.scipy.stats.beta": "scipy.stats.beta", "jax.scipy.stats.poisson": "scipy.stats.poisson", "jax.scipy.ndimage": "scipy.ndimage",
    "jax.scipy.interpolate": "scipy.interpolate", "jax.scipy.fft": "scipy.fft", "jax": "", "jax.tree": "tree", "jax.image": "image",
    "jax.nn.initializers": "nn.initializers", "jax.scipy.stats.multivariate_normal": "scipy.stats.multivariate_normal",
    "jax.scipy.stats.t": "scipy.stats.t", "jax.scipy.stats.binom": "scipy.stats.binom", "jax.scipy.stats.nbinom": "scipy.stats.nbinom",
    "jax.scipy.stats.gamma": "scipy.stats.gamma", "jax.scipy.stats": "scipy.stats", "jax.scipy.integrate": "scipy.integrate",
    "jax.scipy.optimize": "scipy.optimize", "jax.scipy.cluster.vq": "scipy.cluster.vq", "jax.scipy.sparse.linalg": "scipy.sparse.linalg",
    "jax.dtypes": "dtypes", "jax.dlpack": "dlpack", "jax.export": "export", "jax.flatten_util": "flatten_util", "jax.core": "core",
    "jax.sharding": "sharding", "jax.experimental.sparse": "experimental.sparse", "jax.experimental.jet": "experimental.jet",
}
# Methods of these values are called too, and operators on anything.
METHODS = ["m", "i", "c", "x.at[0]", "m.at[..., 1]", "jax.random.key(0)", "jax.jit(jnp.sin)", "jax.tree.structure([0, (1, None)])"]
OPERATORS = ["getitem", "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "xor", "eq", "lt",
             "neg", "abs", "invert", "index", "contains", "length_hint"]
# Functions that read or write files, print, wait for others, or register classes for good.
SKIPPED = {
    "save", "savez", "savez_compressed", "load", "loadtxt", "fromfile", "printoptions", "set_printoptions", "infeed", "outfeed",
    "register_pytree_node", "register_pytree_node_class", "register_dataclass", "register_static", "register_pytree_with_keys",
    "register_pytree_with_keys_class", "register_pytree_node_serialization", "register_namedtuple_serialization", "set_mesh", "clear_caches",
    "clear_backends", "breakpoint", "help", "print_environment_info", "profile", "delete", "tofile", "dump",
}
ARRAYS = [
    "x", "m", "t", "i", "b", "c", "s", "e", "z", "h", "u8", "n", "w", "x.T", "m.T", "jnp.ones((3, 3))", "jnp.zeros((0, 3))", "jnp.zeros((3, 0))",
    "jnp.zeros((2, 0, 2))", "jnp.ones((1, 1, 1, 1, 1))", "jnp.full((4,), jnp.nan)", "jnp.full((3, 3), jnp.inf)", "jnp.arange(-3, 3)",
    "jnp.ones((2, 3), jnp.bfloat16)", "jnp.ones(3, jnp.float16)", "jnp.ones(2, jnp.int4)", "jnp.ones(2, jnp.float8_e4m3fn)", "jnp.array(2**31 - 1)",
    "jnp.array(-2**31)", "jnp.array([5, -7, 100])", "np.ones(3)", "np.ones((2, 2), np.int64)", "np.array('text')", "np.array([None])",
    "np.zeros((0,), object)", "np.ones((2, 3)).T", "np.ones(3).astype('>f4')", "jax.random.key(0)", "jax.random.key(1)", "jax.random.PRNGKey(0)",
    "np.broadcast_to(np.ones(1), (2**40,))", "np.broadcast_to(np.int8(1), (2**31, 2))", "np.zeros((2**40, 0))", "np.ones(3)[::-1]", "np.arange(6)[::2]",
    "memoryview(b'abc')", "bytearray(3)", "np.zeros(2, 'M8[s]')", "np.zeros(2, [('a', 'f4'), ('b', 'i8')])", "np.longdouble(1)", "np.ma.masked_array([1.0, 2], [0, 1])",
    "np.frombuffer(b'\\x00\\x01\\x02\\x03', '<u2')", "np.frombuffer(bytes(9), 'f4', 2, 1)", "np.array([True, False])[:0]",
]
NUMBERS = ["0", "1", "-1", "2", "3", "7", "-5", "10**6", "2**31 - 1", "2**31", "2**40", "2**63", "-2**63", "2**100", "0.5", "-0.5", "1e300", "1e-300",
           "float('nan')", "float('inf')", "-float('inf')", "1j", "True", "False", "np.int8(3)", "np.float64(2.5)"]
SHAPES = ["()", "(0,)", "(3,)", "(2, 3)", "(0, 2**32)", "(2**20, 0)", "(-1,)", "(2**40,)", "(2**32, 2**32)", "(1,) * 40", "[3]", "(2.0,)", "('a',)", "((1, 2),)"]
OTHERS = ["None", "'text'", "''", "b'bytes'", "[]", "[1, [2]]", "[x, x]", "[x, m]", "{}", "{'a': x}", "{1: x, 'b': 2}", "object()", "lambda *a: a[0]",
          "lambda *a: 1", "lambda: 0", "jnp.float32", "'float32'", "'int9'", "int", "jnp.add", "slice(None)", "slice(0, 10**9, -1)", "...",
          "range(3)", "iter([1])", "inside", "liar", "lying_list", "growing", "growing_dict", "lying_array",
          "raising_array", "own_array", "hooked", "type('E', (int,), {})(3)", "jnp.ndarray", "jax.numpy", "NotImplemented", "Ellipsis", "frozenset([1])", "{1: {2: inside}}",
          "jax.jit", "jax.make_jaxpr(jnp.sin)(1.0)", "jnp.sin", "jax.nn.relu", "lambda x: x", "lambda c, x: (c, x)", "lambda i, c: c", "lambda x: {'a': x, 1: x}",
          "lambda x: inside", "len", "'f32,f32->f32'", "'ij,jk'", "(10**6,) * 3", "jax.sharding.PartitionSpec('a')", "jax.devices()[0]", "jax.ShapeDtypeStruct((2,), jnp.float32)", "jax.tree.structure([0, 0])", "(x, x)", "((0, 1), (2, -3))"]


# What asks for more memory or time than there is.
HUGE = ("10**6", "2**20", "2**31", "2**32", "2**40", "2**63", "2**100", "1e300", "10**9")


def _modest(texts):
    return [text for text in texts if not any(huge in text for huge in HUGE)]


def functions(jax):
    """Names of all functions, with their signatures."""
    found = {}
    for shown, path in MODULES.items():
        module = jax
        for part in path.split(".") if path else ():
            module = getattr(module, part, None)
        if path:
            with contextlib.suppress(ImportError):
                module = importlib.import_module(f"{jax.__name__}.{path}")
        for name in dir(module):
            value = getattr(module, name, None)
            if callable(value) and not name.startswith("_") and name not in SKIPPED and not inspect.isclass(value):
                try:
                    found[f"{shown}.{name}"] = inspect.signature(value)
                except (TypeError, ValueError):
                    found[f"{shown}.{name}"] = None
    for shown in METHODS:
        value = eval(shown, {**scope(), "jax": jax})
        for name in dir(value):
            method = getattr(type(value), name, None)
            if callable(method) and name not in SKIPPED and not inspect.isclass(method) and name not in dir(object):
                found[f"({shown}).{name}"] = None
    for name in OPERATORS:
        found[f"operator.{name}"] = OPERANDS if name not in ("neg", "abs", "invert", "index", "length_hint") else OPERAND
    return found


OPERANDS = inspect.signature(lambda a, b, /: 0)
OPERAND = inspect.signature(lambda a, /: 0)


def argument(random, name="", modest=False):
    """The text of one argument, likelier of the kind that its name asks for."""
    arrays, numbers, shapes, others = (_modest(table) if modest else table for table in (ARRAYS, NUMBERS, SHAPES, OTHERS))
    if random.random() < 0.5:
        if "shape" in name or "size" in name:
            return random.choice(shapes)
        if name in ("key", "rng"):
            return random.choice(["jax.random.key(0)", "jax.random.key(1)", "jax.random.split(jax.random.key(2))"])
        if "axis" in name or name in ("k", "n", "num", "length", "dimension"):
            return random.choice(numbers[:14])
        if "dtype" in name:
            return random.choice(["jnp.float32", "jnp.int8", "jnp.bfloat16", "bool", "'complex64'", "jnp.float16", "jnp.int4", "'O'"])
    return random.choice(random.choices([arrays, numbers, shapes, others], weights=[6, 3, 2, 2])[0])


def line_of(known, seed, number, modest=False):
    """The call with this number: a line of Python."""
    draw = random.Random(f"{seed} {number}")
    name = draw.choice(sorted(known))
    parts, signature = [], known[name]
    if signature is None:
        parts = [argument(draw, modest=modest) for _ in range(draw.randint(0, 3))]
    else:
        for parameter in signature.parameters.values():
            is_needed = parameter.default is parameter.empty
            if parameter.kind is parameter.VAR_POSITIONAL:
                parts += [argument(draw, modest=modest) for _ in range(draw.randint(0, 3))] if not any("=" in part for part in parts) else []
            elif parameter.kind is parameter.VAR_KEYWORD or not is_needed and draw.random() < 0.8:
                continue
            else:
                text = argument(draw, parameter.name, modest)
                is_named = parameter.kind is parameter.KEYWORD_ONLY or not is_needed
                parts.append(f"{parameter.name}={text}" if is_named else text)
        if draw.random() < 0.05:
            parts = parts[:-1]
    line = f"{name}({', '.join(parts)})"
    way = draw.random()
    if way < 0.1:
        return f"jax.jit(lambda x: {line})(x)"
    if way < 0.15:
        return f"jax.vmap(lambda x: {line})(m)"
    if way < 0.22:
        return f"jax.grad(lambda x: jnp.sum({line}))(x)"
    return line


class LyingList(list):
    """A list that says it is as long as no memory."""

    def __len__(self):
        return 2**40


class Growing(list):
    """A list that grows while it is walked."""

    def __iter__(self):
        for at in range(5):
            self.append(1.0)
            del self[at + 2 :]
            yield 1.0

    def __getitem__(self, at):
        self[:] = [1.0]
        return super().__getitem__(at)


class GrowingDict(dict):
    """A dict that changes while its keys are looked at."""

    def __iter__(self):
        self.clear()
        self.update(a=1.0, b=2.0)
        return super().__iter__()

    def keys(self):
        self.pop("a", None)
        return super().keys()

    def __getitem__(self, key):
        self[object()] = 1.0
        return 1.0


class LyingArray:
    """An object whose protocols of arrays lie: `dtype` and `shape` of another array than it gives; itself; or an error."""

    def __init__(self, size):
        self.size = size
        self.shape, self.dtype, self.ndim = (size,), "float32", 7

    def __array__(self, dtype=None, copy=None):
        if self.size is None:
            raise KeyError("no array")
        import numpy as np

        return self if self.size is ... else np.ones(3)

    def __len__(self):
        return -1 if self.size is None else 3

    def __index__(self):
        return -(2**63)


class Hooked:
    """An object that gives itself as an array of JAX."""

    def __jax_array__(self):
        return self

    def __hash__(self):
        raise KeyError("no hash")

    def __eq__(self, other):
        raise KeyError("not equal, nor unequal")


def scope():
    import numpy as np

    import pullback as jax

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import hostile_files

    jnp = jax.numpy
    inside = [1]
    inside.append(inside)
    liar = type("Liar", (), {"__len__": lambda s: 3, "__getitem__": lambda s, i: 1 / 0, "__index__": lambda s: 2**70, "__float__": lambda s: "x"})()
    growing, growing_dict = Growing([1.0, 2.0]), GrowingDict(a=1.0, b=2.0)
    return {
        "operator": operator, "files": hostile_files, "np": np, "jax": jax, "jnp": jnp, "lax": jax.lax,
        "lying_list": LyingList([1.0, 2.0]), "growing": growing, "growing_dict": growing_dict, "lying_array": LyingArray(2**40),
        "raising_array": LyingArray(None), "own_array": LyingArray(...), "hooked": Hooked(), "inside": inside, "liar": liar,
        "x": jnp.array([1.5, -2.0, 0.25]),
        "m": jnp.arange(6.0).reshape(2, 3), "t": jnp.ones((2, 3, 4)), "i": jnp.array([2, 0, 1]), "b": jnp.array([True, False, True]),
        "c": jnp.array([1 + 2j, -0.5j]), "s": jnp.eye(3) * 2 + 1, "e": jnp.zeros((0,)), "z": jnp.zeros(()), "h": jnp.ones(4, jnp.float16),
        "u8": jnp.arange(4, dtype=jnp.uint8), "n": jnp.array([jnp.nan, 1.0, -jnp.inf]), "w": jnp.asarray(1.5),
    }


def outcome(line, names):
    """What a line gives: "ok", the class of its exception, or "internal" with the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            names["jax"].block_until_ready(eval(line, dict(names)))
        return "ok"
    except BaseException as error:  # noqa: BLE001
        kind = type(error).__name__
        text = " ".join(str(error).split())[:200] if kind != "ZeroDivisionError" else ""
        is_ours = kind in ("PanicException", "SystemError") or "internal error" in text.lower()
        return f"internal {kind}: {text}" if is_ours else kind


CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus.txt")
# Which lines are run.
CALLS, MODEST, FILES, KNOWN = range(4)


def corpus():
    """Lines that once showed a defect."""
    with open(CORPUS) as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def lines(kind, names, seed):
    """The line with a number, for a kind of lines."""
    if kind == KNOWN:
        return corpus().__getitem__
    if kind == FILES:
        targets = sorted(names["files"].TARGETS)
        return lambda number: f"files.{targets[number % len(targets)]}('{seed} {number}')"
    known = functions(names["jax"])
    return lambda number: line_of(known, seed, number, kind == MODEST)


def work(seed, first, last, memory, kind):
    """Runs calls, saying of each its line before and its outcome after."""
    sys.setrecursionlimit(500)
    names = scope()
    line_with = lines(kind, names, seed)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for number in range(first, last):
        line = line_with(number)
        print(f"{number}\t{line}", flush=True)
        print(f"\t{outcome(line, names)}", flush=True)


class Worker:
    """A process that runs calls `first` to `last`, begun anew after each that it does not survive."""

    def __init__(self, seed, first, last, memory, patience, kind=CALLS):
        self.seed, self.next, self.last, self.memory, self.patience, self.kind = seed, first, last, memory, patience, kind
        self.line, self.process, self.count = "", None, 0
        self._start()

    def _start(self):
        numbers = [self.seed, self.next, self.last, self.memory, self.kind]
        command = [sys.executable, os.path.abspath(__file__), "--work", *map(str, numbers)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.line, self.heard = "", b""

    def _said(self, patience):
        """The next line that the worker says: None when it says nothing for long, "" when it is over."""
        while b"\n" not in self.heard:
            if not select.select([self.process.stdout], [], [], patience)[0]:
                return None
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                return ""
            self.heard += piece
        line, self.heard = self.heard.split(b"\n", 1)
        return line.decode(errors="replace") + "\n"

    def findings(self):
        """Runs all calls; gives pairs of what was found and the line that shows it."""
        while self.next < self.last:
            # The first answer waits for the import.
            patience = self.patience if self.line else 60
            text = self._said(patience)
            if text is None:
                self.process.kill()
                self.process.communicate()
                yield f"hangs for more than {patience} s", self.line
                self._restart()
            elif not text:
                _, errors = self.process.communicate()
                status = self.process.returncode
                if self.next < self.last:
                    last_words = errors.decode(errors="replace").strip().splitlines()[-1:] or [""]
                    yield f"ends the process with status {status}: {last_words[0][:150]}", self.line
                    self._restart()
            elif text.startswith("\t"):
                self.next, self.count = self.next + 1, self.count + 1
                if text.startswith("\tinternal"):
                    yield text.strip(), self.line
            elif text.split("\t")[0].isdigit():
                # What calls print themselves is passed over.
                number, self.line = text.rstrip("\n").split("\t", 1)
                self.next = int(number)
        self.process.kill()
        self.process.communicate()

    def _restart(self):
        self.next += 1
        if self.next < self.last:
            self._start()


def kind_of(what):
    """What two findings must have in common to be the same: hanging, the signal, or the text without its numbers."""
    words = what.split(":")[0] if what.startswith(("ends", "hangs")) else what
    return "".join(letter for letter in words[:80] if not letter.isdigit())


def finding_of(line, memory, patience):
    """What a line shows in a process of its own; nothing when it is as it should be."""
    command = [sys.executable, os.path.abspath(__file__), "--memory", str(memory), "--line", line]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience + 5, check=False)
    except subprocess.TimeoutExpired:
        return f"hangs for more than {patience} s"
    if done.returncode:
        return f"ends the process with status {done.returncode}"
    return done.stdout.strip() if done.stdout.startswith("internal") else ""


def smaller(line):
    """Lines with something less: what is inside of a call, an argument left out, or a plain one in its place."""
    tree = ast.parse(line, mode="eval")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in calls[1:]:
        yield ast.unparse(call)
    for call in calls:
        for arguments in (call.keywords, call.args):
            for at in range(len(arguments)):
                kept = arguments[at]
                del arguments[at]
                yield ast.unparse(tree)
                arguments.insert(at, kept)
        for at, kept in enumerate(call.args):
            for plain in ("x", "0", "None"):
                if len(ast.unparse(kept)) > len(plain):
                    call.args[at] = ast.parse(plain, mode="eval").body
                    yield ast.unparse(tree)
            call.args[at] = kept


def shrink(line, what, memory, patience, tries=60):
    """The smallest line found that shows the same."""
    seen = {line}
    while tries > 0:
        for less in smaller(line):
            if less in seen or len(less) >= len(line):
                continue
            seen.add(less)
            tries -= 1
            if kind_of(finding_of(less, memory, patience)) == kind_of(what):
                line = less
                break
            if tries <= 0:
                break
        else:
            break
    return line


def campaign(seed, n_calls, memory=4 << 30, patience=5, minutes=None, kind=CALLS, report=lambda *_: None):
    """Findings of `n_calls` calls, a list of pairs of what was found and the line; and how many calls there were."""
    found, worker, over = [], Worker(seed, 0, n_calls, memory, patience, kind), time.monotonic() + 60 * (minutes or 1e9)
    for what, line in worker.findings():
        found.append((what, line))
        report(what, line)
        if time.monotonic() > over:
            worker.process.kill()
            break
    return found, worker.count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--memory", type=int, default=4 << 30, help="bytes of address space of a worker")
    parser.add_argument("--modest", action="store_true", help="no arguments that ask for more memory or time than there is")
    parser.add_argument("--files", action="store_true", help="loads tampered files in place of calls")
    parser.add_argument("--corpus", action="store_true", help="only the lines that were found before")
    parser.add_argument("--shrink", action="store_true", help="tells smaller lines that show the same")
    parser.add_argument("--line", help="one call, to see what it does")
    parser.add_argument("--work", nargs=5, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work)
    elif options.line:
        names = scope()
        resource.setrlimit(resource.RLIMIT_AS, (options.memory, options.memory))
        print(outcome(options.line, names))
    else:
        sys.exit(run(options))


def run(options):
    """Runs what the options ask for and tells it; whether anything was found."""

    def report(what, line):
        if options.shrink and not line.startswith("files."):
            line = shrink(line, what, options.memory, 5)
        print(f"{line}\n    {what}", flush=True)

    kind = FILES if options.files else MODEST if options.modest else CALLS
    rounds = [(KNOWN, len(corpus()))] if not options.files else []
    rounds += [(kind, options.calls)] if not options.corpus else []
    all_found, all_calls = 0, 0
    for kind, n_calls in rounds:
        found, count = campaign(options.seed, n_calls, options.memory, minutes=options.minutes, kind=kind, report=report)
        all_found, all_calls = all_found + len(found), all_calls + count
    print(f"{all_calls} calls, {all_found} findings")
    return bool(all_found)


if __name__ == "__main__":
    main()
