"""Traces of the host: files, nesting, what is in them, read by JAX too where it is there; memory profiles; the server."""

import gzip
import json
import urllib.request
from pathlib import Path

import pytest

import pullback as jax

jnp, profiler = jax.numpy, jax.profiler


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file())


def events(data):
    return {event.name: dict(event.stats) for plane in data.planes for line in plane.lines for event in line.events}


def traced(**options):
    chosen = profiler.ProfileOptions()
    for name, value in options.items():
        setattr(chosen, name, value)
    with profiler.trace(profiler_options=chosen) as session:
        with profiler.TraceAnnotation("stretch", size=3, word="a", part=0.5):
            with profiler.StepTraceAnnotation("step", step_num=7):
                jax.jit(jnp.sin)(1.0)
        profiler.annotate_function(lambda: None, name="named")()
    assert not session.is_running
    return session.profile_data


def test_stretches_and_calls_are_recorded():
    found = events(traced(python_tracer_level=0))
    assert found["stretch"] == {"size": 3, "word": "a", "part": 0.5}
    assert found["step"] == {"_r": 1, "step_num": 7}
    assert {"named", "PjitFunction(sin)"} <= set(found)
    assert not any(name.startswith("$") for name in found)


def test_levels_choose_what_is_recorded():
    names = set(events(traced()))
    assert any(name.startswith("$") and name.endswith(" traced") is False for name in names)
    assert "stretch" in names and "stretch" not in events(traced(host_tracer_level=0))


def test_events_nest_in_time():
    line = next(iter(traced(python_tracer_level=0).find_plane_with_name("/host:CPU").lines))
    by_name = {event.name: event for event in line.events}
    outer, inner = by_name["stretch"], by_name["step"]
    assert outer.start_ns <= inner.start_ns < inner.end_ns <= outer.end_ns
    assert inner.end_ns == inner.start_ns + inner.duration_ns


def test_nothing_is_recorded_outside():
    with profiler.TraceAnnotation("before"):
        session = profiler.start_trace(None)
    with profiler.TraceAnnotation("within"):
        pass
    call = jax.jit(jnp.cos)
    data = profiler.stop_trace()
    call(1.0)
    assert "within" in events(data) and "before" not in events(data)
    assert session.profile_data is data


def test_files_of_a_trace(tmp_path):
    options = profiler.ProfileOptions()
    options.session_id = "mine"
    profiler.start_trace(tmp_path, create_perfetto_trace=True, profiler_options=options)
    with profiler.TraceAnnotation("stretch"):
        pass
    profiler.stop_trace()
    names = files(tmp_path)
    assert [name.split(".", 1)[1] for name in names if "perfetto" not in name] == ["trace.json.gz", "xplane.pb"]
    assert all(name.startswith("plugins/profile/mine/") for name in names) and len(names) == 3
    shown = json.loads(gzip.decompress((tmp_path / names[1 if "perfetto" in names[0] else 0]).read_bytes()))
    assert [event["ph"] for event in shown["traceEvents"] if event["name"] == "stretch"] == ["X"]
    assert "stretch" in events(profiler.ProfileData.from_file(next(tmp_path.rglob("*.xplane.pb"))))


def test_jax_reads_the_trace(tmp_path):
    other = pytest.importorskip("jax")
    profiler.export_profile_data(traced(python_tracer_level=0), tmp_path)
    path = str(next(tmp_path.rglob("*.xplane.pb")))
    ours, theirs = profiler.ProfileData.from_file(path), other.profiler.ProfileData.from_file(path)
    assert [plane.name for plane in ours.planes] == [plane.name for plane in theirs.planes]
    assert events(ours) == events(theirs)
    assert [line.name for plane in ours.planes for line in plane.lines] == [line.name for plane in theirs.planes for line in plane.lines]


def test_ours_reads_texts_as_jax_does():
    other = pytest.importorskip("jax")
    text = 'planes { name: "a" id: 1 lines { name: \'b\' timestamp_ns: 5 events { metadata_id: 2 offset_ps: 3000 } }\n' \
        "event_metadata { key: 2 value { id: 2, name: 'e' } } } # end"
    shape = lambda data: [
        (plane.name, [(line.name, [(event.name, event.start_ns) for event in line.events]) for line in plane.lines]) for plane in data.planes
    ]
    assert shape(profiler.ProfileData.from_text_proto(text)) == shape(other.profiler.ProfileData.from_text_proto(text))
    raw = other.profiler.ProfileData.text_proto_to_serialized_xspace(text)
    assert shape(profiler.ProfileData.from_serialized_xspace(raw)) == shape(other.profiler.ProfileData.from_serialized_xspace(raw))


def test_one_trace_at_a_time():
    with pytest.raises(RuntimeError, match="No profile started"):
        profiler.stop_trace()
    with profiler.trace():
        with pytest.raises(RuntimeError, match="already been started"):
            profiler.start_trace(None)
        with pytest.raises(RuntimeError, match="already been started"):
            profiler.ProfileSession().start()
    with pytest.raises(RuntimeError, match="No profile started"):
        profiler.stop_trace()


@pytest.mark.parametrize("raw", [b"abc", b"\x0a\x05a", b"\x0a\x02\x0d\x00"])
def test_broken_messages_are_errors(raw):
    with pytest.raises(RuntimeError, match="Failed to parse"):
        profiler.ProfileData.from_serialized_xspace(raw)


@pytest.mark.parametrize("call", [
    lambda: profiler.TraceAnnotation(3), lambda: profiler.start_trace(None, profiler_options=3), lambda: profiler.export_profile_data(3, "x"),
    lambda: setattr(profiler.ProfileOptions(), "typo", 1),
])
def test_wrong_arguments_are_errors(call):
    with pytest.raises((TypeError, AttributeError)):
        call()


def test_memory_profile_counts_arrays_of_one_block_once(tmp_path):
    from pullback._profiles import wire

    kept = jnp.zeros((123, 7), jnp.uint16) + 1
    path = tmp_path / "memory.prof"
    profiler.save_device_memory_profile(path)
    message = wire.decode("Profile", gzip.decompress(path.read_bytes()))
    name = message["string_table"].index("uint16[123,7]")
    (function,) = [one["id"][0] for one in message["function"] if one["name"] == [name]]
    (sample,) = [one for one in message["sample"] if one["location_id"] == [function]]
    assert sample["value"] == [1, kept.nbytes]


def test_server_gives_traces():
    server = profiler.start_server(0)
    try:
        with pytest.raises(ValueError, match="Only one profiler server"):
            profiler.start_server(0)
        address = "http://127.0.0.1:%d/profile?seconds=0.01" % server._server.server_address[1]
        data = profiler.ProfileData.from_serialized_xspace(urllib.request.urlopen(address).read())
        assert data.find_plane_with_name("/host:CPU") is not None
    finally:
        profiler.stop_server()
    with pytest.raises(ValueError, match="No active profiler server"):
        profiler.stop_server()
