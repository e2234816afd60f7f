"""What managers of checkpoints have in common; the managers themselves are libraries."""

import abc as _abc


class GlobalAsyncCheckpointManagerBase(_abc.ABC):
    """The base of classes that write arrays to storage while a program goes on."""

    @_abc.abstractmethod
    def check_for_errors(self):
        """Raises what went wrong since the last call."""

    @_abc.abstractmethod
    def wait_until_finished(self):
        """Waits until everything is written."""

    @_abc.abstractmethod
    def serialize(self, arrays, tensorstore_specs, *, on_commit_callback):
        """Begins to write arrays; `on_commit_callback` is called when they are in storage."""

    @_abc.abstractmethod
    def deserialize(self, shardings, tensorstore_specs, global_shapes=None, dtypes=None):
        """Reads arrays with the given shardings."""
