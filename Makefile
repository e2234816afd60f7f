# The commands of the project; they need Rust and a Python from 3.11 to 3.14, and keep the rest in .venv and target.

.PHONY: demo test bench build clean

demo:
	@scripts/setup build
	.venv/bin/python examples/digits.py

test:
	@scripts/test

# Ratios to JAX; `make bench WRITE=--write` records them in docs/performance.md.
bench:
	@scripts/setup test
	.venv/bin/python bench/run.py $(WRITE)

build:
	@scripts/setup build

clean:
	cargo clean
	rm -rf .venv out python/pullback/_core.*.so
