"""What libraries and tutorials import from JAX's private path."""

import pytest

import pullback._src.util as ours

theirs = pytest.importorskip("jax._src.util")

CASES = (
    ("safe_map", lambda u: list(u.safe_map(max, [1, 5], [3, 2]))),
    ("safe_map", lambda u: u.safe_map(max, [1, 5], [3])),
    ("safe_zip", lambda u: list(u.safe_zip([1, 2], "ab"))),
    ("safe_zip", lambda u: u.safe_zip([1, 2], "a")),
    ("unzip2", lambda u: u.unzip2([(1, 2), (3, 4)])),
    ("unzip2", lambda u: u.unzip2([])),
    ("unzip3", lambda u: u.unzip3(iter([(1, 2, 3)]))),
    ("subvals", lambda u: u.subvals([1, 2, 3], [(1, 9)])),
    ("split_list", lambda u: u.split_list([1, 2, 3, 4], [1, 2])),
    ("split_list", lambda u: u.split_list((1, 2), [])),
    ("split_list_checked", lambda u: u.split_list_checked([1, 2, 3], [1, 2])),
    ("partition_list", lambda u: u.partition_list([True, False, True], [1, 2, 3])),
    ("merge_lists", lambda u: u.merge_lists([True, False, True], [2], [1, 3])),
    ("concatenate", lambda u: u.concatenate([(1,), [2, 3]])),
    ("flatten", lambda u: u.flatten([(1,), [2, 3]])),
    ("unflatten", lambda u: u.unflatten([1, 2, 3], [2, 0, 1])),
    ("curry", lambda u: u.curry(lambda x, y: x - y)(5)(3)),
    ("wrap_name", lambda u: u.wrap_name("jvp", "f")),
    ("fun_name", lambda u: [u.fun_name(len), u.fun_name(3)]),
    ("wraps", lambda u: u.wraps(len, "of {fun}", "{fun}: {doc}")(lambda x: x).__name__),
    ("tuple_insert", lambda u: u.tuple_insert((1, 2), 1, 9)),
    ("tuple_delete", lambda u: u.tuple_delete((1, 2), 1)),
    ("tuple_update", lambda u: u.tuple_update((1, 2), 1, 9)),
    ("ceil_of_ratio", lambda u: [u.ceil_of_ratio(7, 2), u.ceil_of_ratio(6, 2)]),
    ("canonicalize_axis", lambda u: [u.canonicalize_axis(-1, 3), u.canonicalize_axis(0, 3)]),
    ("canonicalize_axis", lambda u: u.canonicalize_axis(3, 3)),
    ("stable_unique", lambda u: list(u.stable_unique([3, 1, 3]))),
)


def outcome(call, module):
    """What a call gives, or the class of its error."""
    try:
        return call(module)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name,call", CASES, ids=[f"{i} {name}" for i, (name, _) in enumerate(CASES)])
def test_helpers_for_lists(name, call):
    assert outcome(call, ours) == outcome(call, theirs)


def test_backends_are_there_once_devices_are_counted():
    """Tools ask before they set the number of devices."""
    import subprocess
    import sys

    program = """if True:
        import os
        import pullback
        from pullback._src import xla_bridge
        assert xla_bridge._backends == {} and not xla_bridge.backends_are_initialized()
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
        assert len(pullback.devices()) == 3
        assert list(xla_bridge._backends) == ["cpu"] and xla_bridge.backends_are_initialized()
    """
    subprocess.run([sys.executable, "-c", program], check=True)
