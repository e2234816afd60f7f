"""Modules for libraries that extend the system: the core's objects, tracing by hand, source information."""
