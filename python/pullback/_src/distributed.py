"""Processes that work together: who they are, from what is given or from the variables of what started them."""

import atexit as _atexit
import os as _os
import sys as _sys

from pullback import _core
from pullback._core import user_error as _user_error


def _first_of(nodes):
    """The first name of a list of nodes of Slurm's: `a[03-07,9],b` is `a03`."""
    head, bracket, rest = nodes.partition("[")
    comma = head.find(",")
    if comma >= 0 or not bracket:
        return head[:comma] if comma >= 0 else head
    inside, _, tail = rest.partition("]")
    number = inside.split(",")[0].split("-")[0]
    return head + number + tail.split(",")[0]


def _port_of(job):
    """A port that all processes of a job agree on, among the last 4096."""
    return int(job) % 2**12 + 2**16 - 2**12


def _slurm(env):
    wanted = ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID")
    if any(name not in env for name in wanted):
        return None
    address = f"{_first_of(env['SLURM_STEP_NODELIST'])}:{_port_of(env['SLURM_JOB_ID'])}"
    return address, int(env["SLURM_NTASKS"]), int(env["SLURM_PROCID"]), int(env["SLURM_LOCALID"])


def _open_mpi(env):
    wanted = ("OMPI_MCA_orte_hnp_uri", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
    if any(name not in env for name in wanted):
        return None
    # "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911": the job, and the addresses of the machine that started it.
    job, _, places = env["OMPI_MCA_orte_hnp_uri"].partition(";")
    host = places.partition("://")[2].split(":")[0].split(",")[0]
    address = f"{host}:{_port_of(job.split('.')[0])}"
    return address, *(int(env[name]) for name in wanted[1:])


def _kubernetes(env):
    """Of a job with indices: the number of the process. How many there are and where the first is, the job's variables say."""
    if "KUBERNETES_SERVICE_HOST" not in env or "JOB_COMPLETION_INDEX" not in env:
        return None
    return None, None, int(env["JOB_COMPLETION_INDEX"]), None


_CLUSTERS = {"slurm": _slurm, "ompi": _open_mpi, "k8s": _kubernetes}


def _detected(method, env):
    """What the variables of a cluster say: address, number of processes, number of this one, and its number on the machine."""
    if method is not None and method not in _CLUSTERS and method != "deactivate":
        known = ", ".join(map(repr, [*_CLUSTERS, "deactivate"]))
        raise _user_error(ValueError, f"cluster_detection_method {method!r} is not supported; it should be one of {known}")
    for name, detect in _CLUSTERS.items():
        found = detect(env) if method in (None, name) else None
        if found is not None:
            return found
    return None, None, None, None


def _number(value, what):
    try:
        return int(value)
    except (TypeError, ValueError):
        raise _user_error(ValueError, f"{what} must be a whole number, got {value!r}") from None


def _port(address):
    host, separator, port = address.rpartition(":")
    if not separator or not host or not port.isdigit() or not 0 < int(port) < 2**16:
        raise _user_error(ValueError, f"coordinator_address must be 'host:port' with a port below 65536, got {address!r}")
    return port


def _local_devices(ids):
    if ids is None:
        return None
    if isinstance(ids, str):
        ids = ids.split(",")
    return [_number(one, "a member of local_device_ids") for one in (ids if isinstance(ids, (list, tuple)) else [ids])]


class State:
    """Of one process.

    Attributes: `process_id`, `num_processes`, `coordinator_address`; `client`, which asks the service (`key_value_set`,
      `blocking_key_value_get`, `wait_at_barrier`), None where no others are; `service`, in process 0.
    """

    process_id = 0
    num_processes = 1
    service = None
    client = None
    preemption_sync_manager = None
    coordinator_address = None
    partition_index = None
    local_device_ids = None

    def refuse(self, names):
        """Raises for arguments that are not supported."""
        if names:
            raise _user_error(NotImplementedError, f"jax.distributed.initialize does not support {', '.join(sorted(names))}; leave it out")

    def initialize(
        self,
        coordinator_address=None,
        num_processes=None,
        process_id=None,
        local_device_ids=None,
        cluster_detection_method=None,
        initialization_timeout=300,
        coordinator_bind_address=None,
        heartbeat_timeout_seconds=100,
        shutdown_timeout_seconds=300,
        **others,
    ):
        """As `jax.distributed.initialize`."""
        self.refuse({name for name, value in others.items() if value is not None})
        env = _os.environ
        address = coordinator_address or env.get("JAX_COORDINATOR_ADDRESS")
        count = num_processes if num_processes is not None else env.get("JAX_NUM_PROCESSES")
        number = process_id if process_id is not None else env.get("JAX_PROCESS_ID")
        local = local_device_ids if local_device_ids is not None else env.get("JAX_LOCAL_DEVICE_IDS")
        if None in (address, count, number):
            found = _detected(cluster_detection_method, env)
            address, count = address or found[0], found[1] if count is None else count
            if number is None:
                number, local = found[2], found[3] if local is None else local
        for value, text in ((address, "coordinator_address should be defined."), (count, "Number of processes must be defined."), (number, "The process id of the current process must be defined.")):
            if value is None:
                raise _user_error(ValueError, text)
        count, number, port = _number(count, "num_processes"), _number(number, "process_id"), _port(address)
        if not 0 <= number < count:
            raise _user_error(ValueError, f"process_id must be from 0 to num_processes - 1, got {number} of {count}")
        local = _local_devices(local)
        if self.client is not None:
            raise _user_error(RuntimeError, "distributed.initialize should only be called once.")
        if "pullback._plugins" in _sys.modules and _sys.modules["pullback._plugins"].started():
            raise _user_error(
                RuntimeError,
                "jax.distributed.initialize() must be called before any JAX calls that might initialise the XLA backend. This includes any computation, but also calls to jax.devices, jax.device_put, and others."
            )
        if number == 0:
            bind = coordinator_bind_address or env.get("JAX_COORDINATOR_BIND_ADDRESS") or _bind_address(address, port)
            self.service = _core.CoordinationService(bind, count, float(heartbeat_timeout_seconds))
        try:
            times = (initialization_timeout, heartbeat_timeout_seconds, shutdown_timeout_seconds)
            self.client = _core.DistributedRuntimeClient(address, number, count, *map(float, times))
        except BaseException:
            self.service = None
            raise
        self.process_id, self.num_processes, self.coordinator_address = number, count, address
        self.local_device_ids = local
        _atexit.register(self._at_exit)

    def shutdown(self):
        """As `jax.distributed.shutdown`."""
        client, service = self.client, self.service
        self.client = self.service = None
        _atexit.unregister(self._at_exit)
        try:
            if client is not None:
                client.shutdown()
        finally:
            if service is not None:
                service.shutdown(10.0)

    def _at_exit(self):
        # A process that failed does not leave: the others are to learn of it.
        if getattr(_sys, "last_exc", None) is None:
            self.shutdown()

    def options(self, platform):
        """What the client of a platform's plugin is told of the processes."""
        if self.client is None or platform not in ("cuda", "rocm"):
            return {}
        options = {"node_id": self.process_id, "num_nodes": self.num_processes}
        return options if self.local_device_ids is None else {**options, "visible_devices": list(self.local_device_ids)}


def _bind_address(address, port):
    """Where process 0 listens: nowhere else than on this machine when the others are here too."""
    import ipaddress
    import socket

    try:
        found = socket.getaddrinfo(address.rpartition(":")[0].strip("[]"), None, socket.AF_INET)[0][4][0]
    except OSError:
        return f"0.0.0.0:{port}"
    return f"127.0.0.1:{port}" if ipaddress.ip_address(found).is_loopback else f"0.0.0.0:{port}"


global_state = State()
