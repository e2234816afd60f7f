"""Processes that work together, under JAX's private path: this one alone."""


class State:
    """Of one process: no coordinator, no client."""

    process_id = 0
    num_processes = 1
    service = None
    client = None
    preemption_sync_manager = None
    coordinator_address = None


global_state = State()
