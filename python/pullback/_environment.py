"""Environment variables: what their texts mean. A text that means nothing is an error that names its variable."""

import os as _os
import re as _re
import sys as _sys

from pullback._core import user_error as _user_error

_TRUE, _FALSE = ("1", "true", "yes", "y", "t", "on"), ("0", "false", "no", "n", "f", "off", "")
# More devices than any test of sharded programs asks for; each is an object, made when devices are first asked for.
MAX_DEVICES = 1 << 16
_DEVICE_FLAG = "--xla_force_host_platform_device_count"


def truth(name, text):
    """Whether the text of a variable says yes."""
    word = text.strip().lower()
    if word not in _TRUE + _FALSE:
        raise _user_error(ValueError, f"invalid truth value {text!r} for environment {name!r}; it should be 'true' or 'false'")
    return word in _TRUE


def whole(name, text, least, most):
    """The whole number that the text of a variable says."""
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or not least <= number <= most:
        wanted = f"a whole number from {least} to {most}"
        raise _user_error(ValueError, f"invalid value {text!r} for environment {name!r}; it should be {wanted}")
    return number


def forced_devices():
    """How many devices `XLA_FLAGS` asks for; None when it does not say. The last of several flags counts."""
    texts = _re.findall(rf"{_DEVICE_FLAG}=(\S*)", _os.environ.get("XLA_FLAGS", ""))
    numbers = [whole(f"XLA_FLAGS: {_DEVICE_FLAG}", text, 0, MAX_DEVICES) for text in texts]
    return numbers[-1] if numbers and numbers[-1] > 0 else None


# Variables that the core reads for itself, with the least and the greatest number that they may say.
_OWN = {"PULLBACK_NUM_THREADS": (1, 4096), "PULLBACK_AWAKE_US": (0, 2**63 - 1), "PULLBACK_POOL_BYTES": (0, 2**63 - 1)}
_ENGINES = ("", "avx512", "avx2", "cranelift", "interpret")


def check_own():
    """Looks at the variables that the core reads, and passes over when they mean nothing."""
    for name, (least, most) in _OWN.items():
        if name in _os.environ:
            whole(name, _os.environ[name], least, most)
    engine = _os.environ.get("PULLBACK_ENGINE", "")
    if engine not in _ENGINES:
        raise _user_error(ValueError, f"invalid value {engine!r} for environment 'PULLBACK_ENGINE'; it should be one of {_ENGINES[1:]}")


def may_have_plugins():
    """Whether a plugin may be installed or asked for; it looks at few paths, as every import of the package asks."""
    wanted = _os.environ.get("JAX_PLATFORMS", "")
    if wanted.split(",")[0].strip() not in ("", "cpu") or _os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS"):
        return True
    places = [place for place in _sys.path if place.endswith("-packages")]
    return any(_os.path.isdir(f"{place}/{name}") for place in places for name in ("jax_plugins", "libtpu"))
