"""Processes that work together: `initialize` in each, before devices are used."""

from pullback._src.distributed import global_state as _global_state


def initialize(
    coordinator_address=None,
    num_processes=None,
    process_id=None,
    local_device_ids=None,
    cluster_detection_method=None,
    initialization_timeout=300,
    heartbeat_timeout_seconds=100,
    shutdown_timeout_seconds=300,
    coordinator_bind_address=None,
    slice_index=None,
    partition_index=None,
    mtls_cert_file=None,
    mtls_key_file=None,
    mtls_ca_file=None,
    mtls_peer_uri_prefix=None,
    verify_secure_credentials=None,
):
    """Joins the processes that run this program together; returns when all are there.

    Process 0 runs a service for all: a key-value store and barriers, by which plugins find each other. What is not given
    comes from `JAX_COORDINATOR_ADDRESS`, `JAX_NUM_PROCESSES` and `JAX_PROCESS_ID`, or from the variables of Slurm, Open MPI
    or a Kubernetes job with indices.

    Args:
      coordinator_address: `host:port` at which process 0 listens.
      num_processes: how many processes there are.
      process_id: the number of this one.
      local_device_ids: numbers of the devices of this machine that this process uses.
      cluster_detection_method: "slurm", "ompi" or "k8s"; "deactivate" looks at no such variables. None looks at all.
      initialization_timeout: seconds until all must be there.
      heartbeat_timeout_seconds: seconds of silence after which a process is gone.
      shutdown_timeout_seconds: seconds that `shutdown` waits for the others.
      coordinator_bind_address: `host:port` at which process 0 listens, where that differs.
      slice_index: not supported.
      partition_index: not supported.
      mtls_cert_file: not supported; the network must be one that is trusted.
      mtls_key_file: not supported.
      mtls_ca_file: not supported.
      mtls_peer_uri_prefix: not supported.
      verify_secure_credentials: not supported.
    Returns: None.
    Raises:
      ValueError: the address or a number is given nowhere, or is none.
      RuntimeError: it was called before, or after a plugin was started; the others do not come in time; a number is taken.
      NotImplementedError: an argument that is not supported is given.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.distributed.is_initialized()
      False
    """
    given = {
        "slice_index": slice_index, "partition_index": partition_index, "mtls_cert_file": mtls_cert_file, "mtls_key_file": mtls_key_file,
        "mtls_ca_file": mtls_ca_file, "mtls_peer_uri_prefix": mtls_peer_uri_prefix, "verify_secure_credentials": verify_secure_credentials,
    }  # fmt: skip
    _global_state.refuse({name for name, value in given.items() if value is not None})
    _global_state.initialize(
        coordinator_address,
        num_processes,
        process_id,
        local_device_ids,
        cluster_detection_method,
        initialization_timeout,
        coordinator_bind_address,
        heartbeat_timeout_seconds,
        shutdown_timeout_seconds,
    )


def is_initialized():
    """Whether this process joined others.

    Returns: a bool.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.distributed.is_initialized()
      False
    """
    return _global_state.client is not None


def shutdown():
    """Waits until all processes call it, and leaves; without others it does nothing. A process that ends calls it itself.

    Returns: None.
    Raises:
      RuntimeError: a process was lost, or does not come in time.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.distributed.shutdown()
    """
    _global_state.shutdown()
