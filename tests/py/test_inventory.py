"""Every public name of JAX 0.12 is here, with its signature, but for those that `golden/inventory_gaps.txt` lists.

`golden/inventory.json` holds the names and signatures that JAX shows, without annotations. The list of gaps is exact: a
gap that is closed must be deleted from it, and it cannot grow. `UPDATE_EXPECT=1` deletes what is closed, and refuses the rest.
"""

import ast
import importlib
import inspect
import json
import os
import re
import typing
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
INVENTORY = json.loads((GOLDEN / "inventory.json").read_text())
GAPS = GOLDEN / "inventory_gaps.txt"


def plain(signature):
    """A signature without annotations; objects that only print, as `<function f>`, become `...`."""
    text = re.sub(r"<[^<>]*>", "...", signature)
    try:
        args = ast.parse(f"def f{text}: pass").body[0].args
    except SyntaxError:
        return text
    for one in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if one is not None:
            one.annotation = None
    return f"({ast.unparse(args)})"


def found_signature(value):
    try:
        return plain(str(inspect.signature(value)))
    except (TypeError, ValueError):
        return None


def is_type_alias(value):
    """Aliases as `tuple[int, ...]` have no signature of their own; what `inspect` says of them differs by interpreter."""
    return typing.get_origin(value) is not None


# Names that JAX lists and refuses with an AttributeError: they are here when we refuse them in the same words.
REMOVED = {"jax": ("device_put_replicated", "device_put_sharded")}


def refusal(holder, name):
    """What the AttributeError of a name says."""
    with pytest.raises(AttributeError) as raised:
        getattr(holder, name)
    return str(raised.value)


def gaps_of(module):
    """What a module lacks: `missing NAME` or `signature NAME`, each with the module's name."""
    try:
        ours = importlib.import_module("pullback" + module.removeprefix("jax"))
    except ImportError:
        ours = None
    for name, wanted in INVENTORY[module].items():
        if name in REMOVED.get(module, ()):
            continue
        if not hasattr(ours, name):
            yield f"missing {module}.{name}"
        elif is_type_alias(getattr(ours, name)):
            continue
        elif wanted is not None and found_signature(getattr(ours, name)) != plain(wanted):
            yield f"signature {module}.{name}"


def listed():
    return [line for line in GAPS.read_text().splitlines() if line and not line.startswith("#")]


def module_of(gap):
    return max((module for module in INVENTORY if gap.split()[1].startswith(module + ".")), key=len)


@pytest.fixture(scope="module", autouse=True)
def updated():
    """With UPDATE_EXPECT=1, gaps that are closed leave the list."""
    if os.environ.get("UPDATE_EXPECT"):
        left = {gap for module in INVENTORY for gap in gaps_of(module)}
        head = [line for line in GAPS.read_text().splitlines() if line.startswith("#")]
        GAPS.write_text("\n".join([*head, *(gap for gap in listed() if gap in left)]) + "\n")


@pytest.mark.parametrize("module", INVENTORY)
def test_module(module):
    known = {gap for gap in listed() if module_of(gap) == module}
    found = set(gaps_of(module))
    new = {gap: f"{inventory_text(gap)}" for gap in found - known}
    assert not new, "lost, or without JAX's signature:\n" + "\n".join(f"{gap}: {text}" for gap, text in sorted(new.items()))
    assert not known - found, f"closed; delete from {GAPS.name}: {sorted(known - found)}"


def inventory_text(gap):
    kind, name = gap.split()
    module = module_of(gap)
    name = name.removeprefix(module + ".")
    if kind == "missing":
        return "not there"
    ours = importlib.import_module("pullback" + module.removeprefix("jax"))
    return f"{found_signature(getattr(ours, name))} in place of {plain(INVENTORY[module][name])}"


@pytest.mark.parametrize("name", REMOVED["jax"])
def test_removed_names_are_refused_in_the_same_words(name, jax_oracle):
    # But for the page that they point to: theirs is on their site, ours in `pullback.help`.
    ours, theirs = (refusal(holder, name) for holder in (importlib.import_module("pullback"), jax_oracle))
    assert ours.split("See ")[0] == theirs.split("See ")[0]
    assert ours.split("See ")[1] == 'pullback.help("migrating_pmap") for a drop-in replacement.'


def test_gaps_are_sorted_and_distinct():
    gaps = listed()
    assert gaps == sorted(set(gaps))


def test_inventory_is_of_the_oracle(jax_oracle):
    """The recorded names and signatures are those that the live JAX shows, sampled where signatures are plain."""
    for module in ("jax.nn", "jax.random", "jax.scipy.special"):
        live = importlib.import_module(module)
        for name, wanted in INVENTORY[module].items():
            if wanted is not None:
                assert found_signature(getattr(live, name)) == plain(wanted), f"{module}.{name}"
