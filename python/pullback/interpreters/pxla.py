"""The mesh that is current."""

from pullback._src.interpreters.pxla import global_result_handlers as global_result_handlers
