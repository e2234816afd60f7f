"""Modules for libraries that extend the system: the core's objects, tracing by hand, source information."""

from pullback._later import modules_later as _modules_later

__getattr__, __dir__ = _modules_later(__name__, __path__)
