"""Helpers for lists under JAX's private path, which interpreters written in Python use."""

import functools

from pullback.api_util import safe_map as safe_map


def safe_zip(*sequences):
    """Tuples of the elements at one place; ValueError for sequences of other lengths."""
    return safe_map(lambda *elements: elements, *sequences)


def foreach(fun, *sequences):
    """Calls a function with the elements at each place."""
    safe_map(fun, *sequences)


def unzip2(pairs):
    """The first parts and the second parts of pairs."""
    return _unzipped(pairs, 2)


def unzip3(triples):
    """The first, second and third parts of triples."""
    return _unzipped(triples, 3)


def _unzipped(rows, width):
    columns = [[] for _ in range(width)]
    for row in rows:
        for column, element in safe_zip(columns, row):
            column.append(element)
    return tuple(map(tuple, columns))


def subvals(lst, replace):
    """The elements, those at given places replaced."""
    replaced = dict(replace)
    return tuple(replaced.get(at, element) for at, element in enumerate(lst))


def split_list(args, ns):
    """Parts of the given lengths, and the rest."""
    args = list(args)
    ends = [sum(ns[:k]) for k in range(len(ns) + 1)]
    return [args[start:end] for start, end in zip(ends, [*ends[1:], len(args)])]


def split_list_checked(args, ns):
    """Parts of the given lengths, which are all."""
    if sum(ns) != len(args):
        raise ValueError(f"parts of lengths {list(ns)} do not make {len(args)} elements")
    return split_list(args, ns)[:-1]


def partition_list(bs, l):  # noqa: E741
    """The elements whose flag is false, and those whose flag is true."""
    parts = [], []
    for flag, element in safe_zip(bs, l):
        parts[bool(flag)].append(element)
    return parts


def merge_lists(bs, l0, l1):
    """What `partition_list` took apart."""
    rests = iter(l0), iter(l1)
    return [next(rests[bool(flag)]) for flag in bs]


def concatenate(xs):
    """The elements of all sequences in one list."""
    return [x for part in xs for x in part]


flatten = concatenate


def unflatten(xs, ns):
    """Parts of the given lengths of one list."""
    rest = iter(xs)
    return [[next(rest) for _ in range(n)] for n in ns]


def curry(f):
    """The function whose first arguments are given first: `curry(f)(x)(y)` is `f(x, y)`."""
    return functools.partial(functools.partial, f)


def memoize(f):
    """The function with its results kept; of methods without arguments those of each object."""
    return functools.lru_cache(maxsize=None)(f)


def cache(max_size=4096, **_):
    """A decorator that keeps results of a function of hashable arguments."""
    return functools.lru_cache(maxsize=max_size)


def wrap_name(transform_name, name):
    """The name of a transformed function, `jvp(f)`."""
    return f"{transform_name}({name})"


def fun_name(fun, default_name="<unnamed function>"):
    """The name of a function, behind its wrappers."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    return getattr(fun, "__name__", default_name)


def wraps(wrapped, namestr=None, docstr=None, **kwargs):
    """A decorator that names a function after another: `namestr` and `docstr` are templates with `{fun}` and `{doc}`."""
    name = fun_name(wrapped)

    def wrapper(fun):
        doc = getattr(wrapped, "__doc__", None) or ""
        fun.__name__ = name if namestr is None else namestr.format(fun=name)
        fun.__module__ = getattr(wrapped, "__module__", fun.__module__)
        fun.__qualname__ = getattr(wrapped, "__qualname__", fun.__name__) if namestr is None else fun.__name__
        fun.__doc__ = doc if docstr is None else docstr.format(fun=name, doc=doc, **kwargs)
        fun.__wrapped__ = wrapped
        return fun

    return wrapper


def tuple_insert(t, idx, val):
    """The tuple with a value before the place `idx`."""
    return t[:idx] + (val,) + t[idx:]


def tuple_delete(t, idx):
    """The tuple without the element at a place."""
    return t[:idx] + t[idx + 1 :]


def tuple_update(t, idx, val):
    """The tuple with another element at a place."""
    return t[:idx] + (val,) + t[idx + 1 :]


def ceil_of_ratio(x, y):
    """`x / y`, rounded up."""
    return -(-x // y)


def canonicalize_axis(axis, num_dims):
    """The place of an axis, negative ones counted from the end; ValueError outside."""
    if not -num_dims <= axis < num_dims:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {num_dims}")
    return axis % num_dims if num_dims else axis


def stable_unique(it):
    """The different elements, in the order of their first."""
    return dict.fromkeys(it).keys()
