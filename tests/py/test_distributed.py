"""Several processes on one machine: they find each other, share values, and learn when one is gone."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

import pullback as jax
from pullback._src.distributed import State, _detected

PRELUDE = """
import os, sys, time
import numpy as np
import pullback as jax, pullback.numpy as jnp
from pullback.experimental import multihost_utils

number, count, address = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
start = lambda **options: jax.distributed.initialize(address, count, number, **({"initialization_timeout": 60, "heartbeat_timeout_seconds": 4} | options))
client = lambda: jax._src.distributed.global_state.client
"""


@pytest.fixture
def no_plugin(monkeypatch):
    """As in a process that started no plugin, whatever other tests did."""
    from pullback import _plugins

    monkeypatch.setattr(_plugins, "started", list)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Processes:
    """So many processes that run a program."""

    def __init__(self, program, count, **environment):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
        self.address = f"127.0.0.1:{free_port()}"
        text = PRELUDE + textwrap.dedent(program)
        command = lambda number: [sys.executable, "-c", text, str(number), str(count), self.address]
        options = dict(env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.all = [subprocess.Popen(command(number), **options) for number in range(count)]

    def results(self, timeout=60):
        return [process.communicate(timeout=timeout) + (process.returncode,) for process in self.all]

    def line(self, number):
        return self.all[number].stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.all:
            process.kill()
            process.communicate()


def outputs(program, count, **environment):
    with Processes(program, count, **environment) as processes:
        results = processes.results()
    assert [code for _, _, code in results] == [0] * count, [err for _, err, _ in results]
    return [out.splitlines() for out, _, _ in results]


def test_processes_agree_and_share():
    program = """
    start()
    print(jax.process_index(), jax.process_count(), jax.distributed.is_initialized(), jax.process_indices())
    client().key_value_set(f"from/{number}", f"hello {number}")
    print([client().blocking_key_value_get(f"from/{n}", 10_000) for n in range(count)])
    client().wait_at_barrier("all", 10_000)
    print(client().key_value_dir_get("from/") == [(f"from/{n}", f"hello {n}") for n in range(count)], client().get_live_nodes([0, 2]))
    print(float(jnp.arange(3.).sum() + number))
    print(multihost_utils.process_allgather({"a": np.arange(2) + number})["a"].tolist())
    print(multihost_utils.broadcast_one_to_all(np.float32(number + 7)))
    multihost_utils.sync_global_devices("end")
    multihost_utils.assert_equal(np.arange(3))
    try: multihost_utils.assert_equal(np.arange(3) + number, "they differ")
    except AssertionError as e: print(str(e).splitlines()[0])
    jax.distributed.shutdown()
    print(jax.distributed.is_initialized())
    """
    found = outputs(program, 3)
    for number, lines in enumerate(found):
        gathered = str([[n, n + 1] for n in range(3)])
        assert lines[:2] == [f"{number} 3 True [0, 1, 2]", str([f"hello {n}" for n in range(3)])]
        assert lines[2:6] == ["True [0, 2]", str(3.0 + number), gathered, "7.0"]
        assert lines[6:] == (["they differ", "False"])


def test_failures_have_their_text():
    program = """
    start()
    def tried(f):
        try: f()
        except RuntimeError as e: print(type(e).__name__, str(e).splitlines()[0])
    if number == 0:
        client().key_value_set("k", "1")
        tried(lambda: client().key_value_set("k", "2"))
        tried(lambda: client().key_value_try_get("none"))
        tried(lambda: client().blocking_key_value_get("none", 100))
        tried(lambda: client().wait_at_barrier("lonely", 200))
        tried(lambda: client().wait_at_barrier("others", 200, [1]))
        tried(start)
    """
    first, second = outputs(program, 2)
    wanted = [
        "ALREADY_EXISTS: Config key k already exists.", "NOT_FOUND: Config key none not found.",
        "DEADLINE_EXCEEDED: GetKeyValue() timed out with key: none and duration: 100ms",
        "DEADLINE_EXCEEDED: Barrier timed out. Id: lonely. Timed out task names: 1",
        "INVALID_ARGUMENT: process 0 is not one of those that barrier others is for",
        "distributed.initialize should only be called once.",
    ]  # fmt: skip
    assert [line.partition(" ")[2] for line in first] == wanted and second == []
    assert [line.partition(" ")[0] for line in first] == ["JaxRuntimeError"] * 5 + ["RuntimeError"]


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_process_is_an_error_of_the_others(victim):
    program = """
    start()
    print("here", flush=True)
    try: client().blocking_key_value_get("never", 100_000)
    except jax.errors.JaxRuntimeError as e: print(e, flush=True)
    try: client().wait_at_barrier("never", 100_000)
    except jax.errors.JaxRuntimeError as e: print(e, flush=True)
    time.sleep(60)
    """
    with Processes(program, 3) as processes:
        assert [processes.line(number) for number in range(3)] == ["here"] * 3
        time.sleep(0.3)
        begun = time.monotonic()
        processes.all[victim].send_signal(signal.SIGKILL)
        for number in {0, 1, 2} - {victim}:
            text = f"process {victim} ended without leaving" if victim else "the coordinator at "
            for _ in range(2):
                line = processes.line(number)
                assert line.startswith("UNAVAILABLE: ") and (text in line), line
        assert time.monotonic() - begun < 20


def test_a_stopped_process_is_found_by_its_silence():
    program = """
    start(heartbeat_timeout_seconds=2)
    print("here", flush=True)
    try: client().blocking_key_value_get("never", 100_000)
    except jax.errors.JaxRuntimeError as e: print(e, flush=True)
    time.sleep(60)
    """
    with Processes(program, 2) as processes:
        assert [processes.line(0), processes.line(1)] == ["here"] * 2
        processes.all[1].send_signal(signal.SIGSTOP)
        assert processes.line(0) == "UNAVAILABLE: process 1 gave no sign of life for 2 seconds"


def test_nobody_waits_for_who_does_not_come():
    program = """
    try: start(initialization_timeout=1) if number != 2 else None
    except RuntimeError as e: print(type(e).__name__, str(e)[:18])
    """
    begun = time.monotonic()
    assert outputs(program, 3) == [["JaxRuntimeError DEADLINE_EXCEEDED:"], ["JaxRuntimeError DEADLINE_EXCEEDED:"], []]
    assert time.monotonic() - begun < 50


def test_garbage_on_the_port_is_refused(no_plugin):
    program = """
    start()
    client().wait_at_barrier("begin", 20_000)
    print("here", flush=True)
    client().blocking_key_value_get("go", 50_000) if number else (sys.stdin.readline(), client().key_value_set("go", ""))
    print("still here", flush=True)
    """
    with Processes(program, 2) as processes:
        assert [processes.line(0), processes.line(1)] == ["here"] * 2
        host, port = processes.address.split(":")
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)) * 40, b"PBKCOOR1" + b"\xff" * 40):
            with socket.create_connection((host, int(port)), timeout=10) as stream:
                try:
                    stream.sendall(garbage)
                    heard = stream.recv(100)
                except ConnectionError:
                    heard = b""
                assert len(heard) <= 8
        processes.all[0].stdin.write("\n")
        processes.all[0].stdin.flush()
        assert [processes.line(0), processes.line(1)] == ["still here"] * 2
    # And what answers otherwise is no coordinator.
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(RuntimeError, match="DEADLINE_EXCEEDED.*cannot be reached"):
            server.settimeout(0.1)
            State().initialize(address.replace("127.0.0.1:", "localhost:"), 2, 1, initialization_timeout=0)


SLURM = {"SLURM_JOB_ID": "4097", "SLURM_STEP_NODELIST": "node[007-009,12],other", "SLURM_NTASKS": "4", "SLURM_PROCID": "2", "SLURM_LOCALID": "1"}
OMPI = {
    "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://10.96.0.1,10.148.0.1,10.108.0.1:34911", "OMPI_COMM_WORLD_SIZE": "3",
    "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
}  # fmt: skip
K8S = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "5"}


@pytest.mark.parametrize(
    "env, method, want",
    [
        (SLURM, None, ("node007:61441", 4, 2, 1)),
        (SLURM | {"SLURM_STEP_NODELIST": "alone"}, "slurm", ("alone:61441", 4, 2, 1)),
        (SLURM | {"SLURM_STEP_NODELIST": "a,b[1-2]"}, None, ("a:61441", 4, 2, 1)),
        (OMPI, None, ("10.96.0.1:61440", 3, 1, 0)),
        (SLURM | OMPI, "ompi", ("10.96.0.1:61440", 3, 1, 0)),
        (K8S, None, (None, None, 5, None)),
        (SLURM, "deactivate", (None,) * 4),
        ({}, None, (None,) * 4),
    ],
)
def test_what_started_the_processes_says_who_they_are(env, method, want):
    assert _detected(method, env) == want


def test_variables_of_slurm_are_enough():
    program = """
    os.environ |= {"SLURM_JOB_ID": "1", "SLURM_STEP_NODELIST": "x", "SLURM_NTASKS": str(count), "SLURM_PROCID": str(number), "SLURM_LOCALID": "0"}
    jax.distributed.initialize(coordinator_address=address, initialization_timeout=60)
    print(jax.process_index(), jax.process_count())
    """
    assert outputs(program, 2) == [["0 2"], ["1 2"]]


@pytest.mark.parametrize(
    "arguments, kind, text",
    [
        ({}, ValueError, "coordinator_address should be defined."),
        ({"coordinator_address": "localhost:1"}, ValueError, "Number of processes must be defined."),
        ({"coordinator_address": "localhost:1", "num_processes": 2}, ValueError, "The process id of the current process must be defined."),
        ({"coordinator_address": "localhost", "num_processes": 1, "process_id": 0}, ValueError, "must be 'host:port'"),
        ({"coordinator_address": "a:99999", "num_processes": 1, "process_id": 0}, ValueError, "port below 65536"),
        ({"coordinator_address": "a:1", "num_processes": 2, "process_id": 2}, ValueError, "from 0 to num_processes - 1, got 2 of 2"),
        ({"coordinator_address": "a:1", "num_processes": "x", "process_id": 0}, ValueError, "num_processes must be a whole number"),
        ({"cluster_detection_method": "abacus"}, ValueError, "'abacus' is not supported"),
        ({"mtls_cert_file": "f"}, NotImplementedError, "mtls_cert_file"),
        ({"coordinator_address": "localhost:1", "num_processes": 2, "process_id": 1, "initialization_timeout": 0}, RuntimeError, "DEADLINE_EXCEEDED"),
    ],
)
def test_wrong_arguments(no_plugin, arguments, kind, text):
    with pytest.raises(kind, match=text):
        jax.distributed.initialize(**arguments)
    assert not jax.distributed.is_initialized() and jax.process_count() == 1
