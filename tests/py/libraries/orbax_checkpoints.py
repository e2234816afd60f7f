"""orbax: what is saved comes back, whole, in part, and the newest of several."""

import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
from task import layers, report


def trees():
    """Trees of arrays, numbers and texts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one"
        tree = {"weights": jax.tree.map(jnp.asarray, layers()), "step": 3, "rate": 0.25, "half": jnp.arange(3, dtype=jnp.bfloat16)}
        with ocp.StandardCheckpointer() as saver:
            saver.save(path, tree)
            saver.wait_until_finished()
            again = saver.restore(path)
            like = jax.tree.map(ocp.utils.to_shape_dtype_struct, tree)
            typed = saver.restore(path, like)
        same = jax.tree.map(lambda a, b: bool(np.array_equal(np.asarray(a, np.float32), np.asarray(b, np.float32))), tree, typed)
        yield "same", str(all(jax.tree.leaves(same)))
        yield "kinds", str(jax.tree.map(lambda x: str(getattr(x, "dtype", type(x).__name__)), {k: again[k] for k in ("step", "rate", "half")}))
        yield "arrays", str(isinstance(typed["half"], jax.Array))
        yield "numbers", again["weights"]["output"]["w"][0]


def managed():
    """A manager keeps the newest two of four steps of training."""
    with tempfile.TemporaryDirectory() as folder:
        optimizer = optax.adam(0.1)
        params = {"x": jnp.array([1.0, -2.0])}
        state = optimizer.init(params)
        options = ocp.CheckpointManagerOptions(max_to_keep=2, create=True)
        with ocp.CheckpointManager(folder, options=options) as manager:
            for step in range(4):
                updates, state = optimizer.update(jax.grad(lambda p: jnp.sum(p["x"] ** 2))(params), state)
                params = optax.apply_updates(params, updates)
                manager.save(step, args=ocp.args.Composite(params=ocp.args.StandardSave(params), state=ocp.args.StandardSave(state), note=ocp.args.JsonSave({"step": step})))
            manager.wait_until_finished()
            yield "kept", str(manager.all_steps())
            wanted = ocp.args.Composite(params=ocp.args.StandardRestore(params), state=ocp.args.StandardRestore(state), note=ocp.args.JsonRestore())
            found = manager.restore(manager.latest_step(), args=wanted)
        yield "params", found.params["x"]
        yield "moments", found.state[0].nu["x"]
        yield "note", str(found.note)


if __name__ == "__main__":
    report({name: value for part in (trees, managed) for name, value in part()})
