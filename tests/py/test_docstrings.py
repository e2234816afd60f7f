"""Every public function says what it takes and gives, what it raises, whether it has a derivative, and shows an example that runs.

The sections are `Args:`, `Returns:`, `Raises:`, `Differentiable:` and `Example:`, in this order; a function without
arguments needs no `Args:`, one that raises nothing of its own no `Raises:`. The examples are run, and what they print
is compared. `golden/short_docstrings.txt` lists the functions that are not described in full yet; it only shrinks. Classes, their methods
and properties need a docstring each, without sections.
"""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import types
from pathlib import Path

import pytest

import pullback
import pullback.numpy
import pullback.scipy.stats

MODULES = ("pullback", "pullback.numpy", "pullback.lax", "pullback.nn", "pullback.nn.initializers", "pullback.random",
           "pullback.tree", "pullback.tree_util", "pullback.numpy.linalg", "pullback.numpy.fft", "pullback.lax.linalg",
           "pullback.scipy.linalg", "pullback.scipy.special", "pullback.debug", "pullback.flatten_util",
           "pullback.scipy.fft", "pullback.scipy.integrate", "pullback.scipy.interpolate", "pullback.scipy.ndimage",
           "pullback.scipy.cluster.vq", "pullback.scipy.signal", "pullback.scipy.optimize", "pullback.scipy.spatial.transform", "pullback.scipy.stats", "pullback.experimental", "pullback.experimental.checkify",
           "pullback.ops", "pullback.ref", "pullback.sharding", "pullback.custom_derivatives", "pullback.custom_batching",
           "pullback.ad_checkpoint", "pullback.test_util", "pullback.dlpack", "pullback.dtypes", "pullback.profiler", "pullback.monitoring", "pullback.image",
           "pullback.extend.random",
           "pullback.experimental.layout", "pullback.experimental.mesh_utils", "pullback.experimental.multihost_utils",
           "pullback.core", "pullback.api_util", "pullback.interpreters.ad", "pullback.interpreters.batching",
           "pullback.interpreters.mlir", "pullback.interpreters.partial_eval", "pullback.interpreters.xla", "pullback.extend.core",
           "pullback.extend.linear_util", "pullback.extend.source_info_util", "pullback.extend.backend", "pullback.experimental.hijax",
           "pullback.experimental.ode", "pullback.experimental.sparse", "pullback.example_libraries.optimizers",
           "pullback.example_libraries.stax", "pullback.experimental.colocated_python", "pullback.export", "pullback.ffi",
           "pullback.experimental.jet", "pullback.experimental.roofline", "pullback.experimental.serialize_executable",
           "pullback.experimental.topologies", "pullback.experimental.compute_on", "pullback.experimental.xla_metadata",
           "pullback.experimental.scheduling_groups", "pullback.experimental.random", "pullback.experimental.buffer_callback",
           "pullback.experimental.pallas", "pullback.experimental.sparse.linalg", "pullback.experimental.key_reuse._core",
           *(f"pullback.scipy.stats.{module.name}" for module in pkgutil.iter_modules(pullback.scipy.stats.__path__)
             if not module.name.startswith("_")))  # fmt: skip
# Modules whose public classes have a docstring each, and one for each public method and property.
CLASSES = ("pullback.export", "pullback.experimental.layout", "pullback.experimental.random", "pullback.experimental.buffer_callback",
           "pullback.experimental.roofline", "pullback.experimental.pallas", "pullback.experimental.sparse", "pullback", "pullback.tree_util", "pullback.custom_derivatives", "pullback.custom_batching", "pullback.ref",
           "pullback.sharding", "pullback.stages", "pullback.experimental.checkify", "pullback.scipy.interpolate",
           "pullback.scipy.stats", "pullback.scipy.optimize", "pullback.scipy.spatial.transform")  # fmt: skip
SHORT = Path(__file__).parent / "golden" / "short_docstrings.txt"
SECTIONS = ("Args:", "Returns:", "Raises:", "Differentiable:", "Example:")
DIRECTIVES = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def functions(module):
    """The public functions that a module shows, by name; aliases of one object once."""
    seen = {}
    for name, value in shown(module).items():
        is_other = inspect.isclass(value) or isinstance(value, types.GenericAlias)
        if (inspect.isroutine(value) or callable(value) and not is_other and hasattr(value, "__name__")) and id(value) not in seen:
            seen[id(value)] = (name, value)
    return dict(seen.values())


def shown(module):
    """The public names of a module with their values, those that are imported when first asked for too."""
    module = importlib.import_module(module)
    late = getattr(module, "_NAMES", ())
    return {name: getattr(module, name) for name in [*vars(module), *late] if not name.startswith("_")}


def classes(module):
    """The public classes of the package that a module shows, by name."""
    return {name: value for name, value in shown(module).items() if inspect.isclass(value) and value.__module__.startswith("pullback")}


def undocumented(class_):
    """Public methods and properties without a docstring of their own."""
    kinds = property, staticmethod, classmethod, types.GetSetDescriptorType, types.MethodDescriptorType
    for name, member in vars(class_).items():
        is_shown = not name.startswith("_") and not isinstance(member, type)
        if is_shown and (callable(member) or isinstance(member, kinds)) and not (member.__doc__ or "").strip():
            yield name


def wants_arguments(function):
    try:
        return bool(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False


def faults(function):
    """What a docstring lacks."""
    text = inspect.getdoc(function) or ""
    found = [line for line in re.findall(r"^(\w+:)", text, re.MULTILINE) if line in SECTIONS]
    wanted = {"Returns:", "Differentiable:", "Example:"} | ({"Args:"} if wants_arguments(function) else set())
    if missing := sorted(wanted - set(found)):
        yield f"no {', '.join(missing)}"
    if found != sorted(found, key=SECTIONS.index) or len(set(found)) != len(found):
        yield f"sections out of order: {found}"
    if "Example:" in found and ">>> " not in text.split("Example:")[1]:
        yield "an example without `>>>`"


def listed():
    return set(SHORT.read_text().splitlines()) if SHORT.exists() else set()


def short_in(module):
    return {f"{module}.{name}" for name, function in functions(module).items() if any(faults(function))}


@pytest.fixture(scope="module", autouse=True)
def updated():
    """With UPDATE_EXPECT=1, functions that are described now leave the list."""
    if os.environ.get("UPDATE_EXPECT"):
        still = set().union(*map(short_in, MODULES))
        SHORT.write_text("".join(f"{name}\n" for name in sorted((listed() & still) if SHORT.exists() else still)))


@pytest.mark.parametrize("module", MODULES)
def test_functions_are_described(module):
    known = {name for name in listed() if name.rpartition(".")[0] == module}
    short = short_in(module)
    assert not short - known, {name: list(faults(functions(module)[name.rpartition(".")[2]])) for name in sorted(short - known)}
    assert not known - short, f"described now; delete from {SHORT.name}: {sorted(known - short)}"


def failures(described):
    """What the examples of objects, by name, print that is not what they say."""
    names = {"jax": pullback, "jnp": pullback.numpy, "pullback": pullback, "lax": pullback.lax}
    runner = doctest.DocTestRunner(optionflags=DIRECTIVES)
    report = []
    for name, value in described.items():
        runner.run(doctest.DocTestParser().get_doctest(inspect.getdoc(value) or "", dict(names), name, None, None), out=report.append)
    return "".join(report)


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    assert not failures({f"{module}.{name}": function for name, function in functions(module).items()})


@pytest.mark.parametrize("module", CLASSES)
def test_classes_are_described(module):
    found = {name: list(undocumented(value)) if vars(value).get("__doc__") else ["__doc__"] for name, value in classes(module).items()}
    assert not {name: missing for name, missing in found.items() if missing}


@pytest.mark.parametrize("class_", [pullback.Array, type(pullback.numpy.zeros(1).at[0])], ids=["Array", "at"])
def test_methods_of_arrays_are_described(class_):
    assert not list(undocumented(class_))
    shown = {name: member for name, member in vars(class_).items() if not name.startswith("_")}
    docs = [member.__doc__ for member in shown.values() if not isinstance(member, types.MemberDescriptorType)]
    assert len(docs) > 8 and all(len(doc.split()) > 2 for doc in docs)


@pytest.mark.parametrize("module", CLASSES)
def test_examples_of_classes_run(module):
    assert not failures({f"{module}.{name}": value for name, value in classes(module).items()})
