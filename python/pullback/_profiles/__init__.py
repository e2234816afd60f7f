"""What profilers write and read: spaces of planes, lines and events, as messages of XPlane and as texts of trace viewers.

It records what `jax.profiler` asks it to, and deliberately nothing of what runs inside of a compiled program.
"""
