# The commands of the project; they need Rust and a Python from 3.11 to 3.14, and keep the rest in .venv and target.

.PHONY: demo test test-aot bench build book wheel clean

demo:
	@scripts/setup build
	.venv/bin/python examples/digits.py

test:
	@scripts/test

# Compiles for a GPU and a TPU that are not here, with the plugins' wheels; see docs/accelerators.md.
test-aot:
	@scripts/test_aot

# Ratios to JAX; `make bench WRITE=--write` records them in docs/performance.md.
bench:
	@scripts/setup test
	.venv/bin/python bench/run.py $(WRITE)

build:
	@scripts/setup build

# The book, as HTML in out/book.
book:
	@scripts/setup build
	@scripts/book

# A wheel for the Python of .venv, in out/wheels.
wheel:
	@scripts/setup build
	.venv/bin/maturin build --release --interpreter .venv/bin/python --out out/wheels

clean:
	cargo clean
	rm -rf .venv .venv-book out python/pullback/_core.*.so
