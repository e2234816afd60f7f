"""The tables of rules for primitives that Python code defines: `ad`, `batching`, `mlir`, and views on tracing."""
