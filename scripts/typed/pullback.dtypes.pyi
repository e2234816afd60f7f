from typing import Any

extended: type[Any]
prng_key: type[Any]
