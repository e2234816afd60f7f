"""Settings: `pullback.config`, and contexts that change one for a while."""

import contextlib as _contextlib
import enum as _enum
import functools as _functools
import os as _os

from pullback._core import user_error as _user_error
from pullback import _core, _environment

# Settings that the core reads, and how values become flags there.
_CORE = {
    "jax_enable_x64": ("X64",),
    "jax_disable_jit": ("DisableJit",),
    "jax_debug_nans": ("DebugNans",),
    "jax_debug_infs": ("DebugInfs",),
    "jax_threefry_partitionable": ("ThreefryPartitionable",),
    "jax_enable_custom_prng": ("TypedKeys",),
    "jax_check_tracer_leaks": ("CheckLeaks",),
    "jax_no_tracing": ("NoTracing",),
    "jax_no_execution": ("NoExecution",),
    "jax_explain_cache_misses": ("ExplainMisses",),
    "jax_log_compiles": ("LogCompiles",),
    "jax_check_static_indices": ("CheckStaticIndices",),
    "pullback_safe_where": ("SafeGrads",),
    "pullback_warn_empty": ("WarnEmpty",),
    "pullback_checked": ("Checked",),
}


class ExplicitX64Mode(_enum.IntEnum):
    """What naming a 64-bit dtype does while such types are off: it gives another with a warning, is an error, or gives it."""

    WARN = 1
    ERROR = 2
    ALLOW = 3




def _precisions():
    """Words for a precision, and the settings that are on for each: the binary digits of its number in the core."""
    words = _core.precision_words()
    numbers = {None: 0} | {word: number for number, word in enumerate(words, start=1)}
    alike = {"fastest": "default", "bfloat16": "default", "tensorfloat32": "high", "bfloat16_3x": "high", "float32": "highest"}
    numbers |= {word: numbers[other] for word, other in alike.items()}
    digits = [(f"MatmulPrecision{digit}", digit) for digit in (1, 2, 4, 8, 16)]
    return {word: tuple(flag for flag, digit in digits if number & digit) for word, number in numbers.items()}


def _transfers(implicit, explicit):
    """What each guard of transfers means for the core, by its names for transfers that nobody and that somebody asked for."""
    log, refuse = (f"Log{implicit}", f"Log{explicit}"), (f"Refuse{implicit}", f"Refuse{explicit}")
    return {None: (), "allow": (), "log": log[:1], "disallow": refuse[:1], "log_explicit": log, "disallow_explicit": refuse}


_UNGUARDED = dict.fromkeys((None, "allow", "log", "disallow", "log_explicit", "disallow_explicit"), ())
_WAYS = tuple(f"jax_transfer_guard_{way}" for way in ("host_to_device", "device_to_device", "device_to_host"))
_CHOICES = {
    # Settings that are on in the core where they are off for the user.
    "jax_allow_f16_reductions": {True: (), False: ("NoHalfWidthSums",)},
    "jax_auto_pcast": {True: (), False: ("ExplicitVarying",)},
    "jax_transfer_guard": _UNGUARDED,
    "jax_transfer_guard_host_to_device": _transfers("Transfers", "Puts"),
    "jax_transfer_guard_device_to_device": _transfers("Moves", "AskedMoves"),
    # The memory of the CPU is the host's.
    "jax_transfer_guard_device_to_host": _UNGUARDED,
    "jax_legacy_prng_key": {"allow": (), "warn": ("WarnLegacyKeys",), "error": ("RefuseLegacyKeys",)},
    "jax_traceback_filtering": {mode: () for mode in ("off", "tracebackhide", "remove_frames", "quiet_remove_frames", "auto")},
    "jax_numpy_dtype_promotion": {"standard": (), "strict": ("StrictPromotion",)},
    "jax_numpy_rank_promotion": {"allow": (), "warn": ("WarnRankPromotion",), "raise": ("RaiseRankPromotion",)},
    "jax_default_prng_impl": {
        "threefry2x32": (), "rbg": ("PrngRbg",), "unsafe_rbg": ("PrngUnsafeRbg",), "philox2x32": ("PrngPhilox2",),
        "philox4x32": ("PrngPhilox4",), "threefry4x32": ("PrngThreefry4",),
    },
    "jax_default_matmul_precision": _precisions(),
    "jax_explicit_x64_dtypes": {
        ExplicitX64Mode.WARN: (), ExplicitX64Mode.ERROR: ("RefuseNamedX64",), ExplicitX64Mode.ALLOW: ("NamedX64",),
    },
}
_DEFAULTS = {
    "jax_enable_x64": False,
    "jax_disable_jit": False,
    "jax_debug_nans": False,
    "jax_debug_infs": False,
    "jax_threefry_partitionable": True,
    "jax_enable_custom_prng": False,
    "jax_numpy_dtype_promotion": "standard",
    "jax_numpy_rank_promotion": "allow",
    "jax_default_matmul_precision": None,
    "jax_default_prng_impl": "threefry2x32",
    "jax_explicit_x64_dtypes": ExplicitX64Mode.WARN,
    "jax_default_device": None,
    "jax_platforms": None,
    "jax_platform_name": "",
    "jax_check_tracer_leaks": False,
    "jax_enable_checks": False,
    "jax_log_compiles": False,
    "jax_explain_cache_misses": False,
    "jax_thread_guard": False,
    "jax_traceback_filtering": "auto",
    "jax_num_cpu_devices": -1,
    "jax_compilation_cache_dir": None,
    "jax_enable_compilation_cache": True,
    "jax_persistent_cache_min_compile_time_secs": 1.0,
    "jax_persistent_cache_min_entry_size_bytes": 0,
    "jax_debug_key_reuse": False,
    "jax_debug_log_modules": "",
    "jax_debug_max_frames": 10,
    "jax_dump_ir_to": None,
    "jax_legacy_prng_key": "allow",
    "jax_numpy_array_ufunc": True,
    "jax_no_tracing": False,
    "jax_no_execution": False,
    "jax_no_execution_errors": False,
    "jax_transfer_guard": None,
    "jax_transfer_guard_host_to_device": None,
    "jax_transfer_guard_device_to_device": None,
    "jax_transfer_guard_device_to_host": None,
    "jax_array_garbage_collection_guard": None,
    "jax_high_dynamic_range_gumbel": False,
    "jax_softmax_custom_jvp": False,
    "jax_allow_f16_reductions": True,
    "jax_auto_pcast": True,
    "jax2tf_associative_scan_reductions": False,
    "jax_raise_persistent_cache_errors": False,
    "jax_random_seed_offset": 0,
    "jax_check_static_indices": False,
    "jax_logging_level": "NOTSET",
    "jax_ragged_dot_use_ragged_dot_instruction": True,
    "jax_embedded_constants_max_bytes": 32,
    "jax_use_simplified_jaxpr_constants": False,
    "jax_use_direct_linearize": True,
    "jax_remat3": False,
    "jax_custom_vjp3": False,
    "jax_custom_jvp3": False,
    "jax_scan3": False,
    "jax_use_rgv3": True,
    "jax_captured_constants_warn_bytes": 2 * 10**9,
    "jax_captured_constants_report_frames": 0,
    "jax_traceback_in_locations_limit": 100,
    "jax_hlo_source_file_canonicalization_regex": None,
    "jax_compilation_cache_include_metadata_in_key": False,
    "jax_compilation_cache_max_size": -1,
    "jax_persistent_cache_enable_xla_caches": "xla_gpu_per_fusion_autotune_cache_dir",
    "jax_raise_on_ppermute_sort_diff": True,
    "jax_disallow_mesh_context_manager": False,
    "jax_disable_vmap_shmap_error": False,
    "jax_disable_bwd_checks": False,
    "jax_optimization_level": "UNKNOWN",
    "jax_memory_fitting_level": "O2",
    "jax_accurate_erf_inv": False,
    "jax_use_hlo_logistic_lowering": None,
    "jax_pprint_use_color": True,
    "jax_default_dtype_bits": "64",
    "jax_cpu_enable_async_dispatch": True,
    "jax_cpu_collectives_implementation": "gloo",
    "jax_use_shardy_partitioner": True,
    "jax_pmap_no_rank_reduction": True,
    "jax_pmap_shmap_merge": True,
    "jax_include_full_tracebacks_in_locations": True,
    "jax_exec_time_optimization_effort": 0.0,
    "jax_memory_fitting_effort": 0.0,
    "jax_remove_size_one_mesh_axis_from_type": False,
    "jax_vjp3": True,
    "jax_mutable_array_checks": True,
    "jax_error_checking_behavior_nan": "ignore",
    "jax_error_checking_behavior_divide": "ignore",
    "jax_error_checking_behavior_oob": "ignore",
    "jax_export_calling_convention_version": 10,
    "jax_export_ignore_forward_compatibility": False,
    "jax_include_debug_info_in_dumps": True,
    "jax_pgle_profiling_runs": 0,
    "jax_enable_pgle": False,
    "jax_xla_profile_version": 0,
    "jax_distributed_debug": False,
    "jax_data_dependent_tracing_fallback": False,
    "jax_dynamic_shapes": False,
    "jax_castf": False,
    "pullback_safe_where": False,
    "pullback_warn_empty": False,
    "pullback_checked": False,
    "pullback_memory_limit": None,
}


def _flags(name, value):
    """Every flag of the core that a setting governs, with its value."""
    if name in _CORE:
        return {flag: bool(value) for flag in _CORE[name]}
    if name in _CHOICES:
        choices = _CHOICES[name]
        if name == "jax_numpy_dtype_promotion" and value not in choices:
            raise _user_error(ValueError, f"{value!r} is not a valid NumpyDtypePromotion; it is one of {list(choices)}")
        if not any(value is choice or value == choice for choice in choices):
            shown = [choice for choice in choices if choice is not None]
            none = "None or in" if None in choices else "in"
            raise _user_error(ValueError, f"new enum value must be {none} {shown}, got {value} of type {type(value)}.")
        return {flag: flag in choices[value] for flags in choices.values() for flag in flags}
    return {}


# Settings that hold a text.
_TEXTS = {"jax_platforms", "jax_platform_name", "jax_compilation_cache_dir"}


def _number_of(device):
    """The number by which places of arrays know a device, or the first of a platform; None for none."""
    if isinstance(device, str):
        from pullback._device import devices

        try:
            device = devices(device)[0]
        except RuntimeError:
            raise _no_device(device) from None
    if device is not None and not hasattr(device, "_number"):
        raise _no_device(device)
    return getattr(device, "_number", None)


def _no_device(given):
    text = "jax.default_device must be passed either a Device object (e.g. `jax.devices('cpu')[0]`) or a platform name string"
    return _user_error(ValueError, f"{text} like 'cpu' or 'gpu', got: {given!r}")


def _as_kept(name, value):
    """The value as the setting holds it: a word for a member of an enumeration becomes the member."""
    if name in _TEXTS and not isinstance(value, (str, type(None))):
        raise _user_error(ValueError, f"new string config value must be None or of type str, got {value} of type {type(value)}.")
    if name != "jax_explicit_x64_dtypes" or isinstance(value, ExplicitX64Mode):
        return value
    if not isinstance(value, str):
        raise _user_error(
            TypeError, f"new enum value must be an instance of {ExplicitX64Mode}, got {value} of type {type(value)}."
        )
    if value != value.lower() or value.upper() not in ExplicitX64Mode.__members__:
        raise _user_error(ValueError, f"{value!r} is not a valid ExplicitX64Mode")
    return ExplicitX64Mode[value.upper()]


# Settings of the persistent compilation cache.
_CACHE = {
    "jax_compilation_cache_dir", "jax_enable_compilation_cache", "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes", "jax_compilation_cache_max_size",
}


def _tell(name, value):
    """Passes on settings that the core holds as numbers; gives the number before."""
    if name == "jax_default_device":
        return _core.set_default_device(_number_of(value))
    if name in _CACHE:
        folder = config.jax_compilation_cache_dir if config.jax_enable_compilation_cache else None
        least, most = (int(config.read(name)) for name in ("jax_persistent_cache_min_entry_size_bytes", "jax_compilation_cache_max_size"))
        seconds = float(config.jax_persistent_cache_min_compile_time_secs)
        _core.set_executable_cache(folder or None, seconds, max(least, 0), most if most >= 0 else None)
    if name == "pullback_memory_limit":
        from pullback import _memory

        _core.set_memory_limit(_memory.checked_limit(name, value))
    if name == "jax_random_seed_offset":
        _core.set_seed_offset(value)
    return None


# Whether transfers were ever guarded, so that nothing else asks.
_guards_transfers = False


def _note_guard(name, value):
    global _guards_transfers
    _guards_transfers |= name.startswith("jax_transfer_guard") and value not in (None, "allow")


# Settings under which a key that is used twice is an error.
_ABOUT_KEYS = ("jax_debug_key_reuse", "pullback_checked")


def _follow_key_reuse():
    """Calls are looked at for keys while one of the settings is on anywhere."""
    from pullback.experimental.key_reuse import _eager

    is_on = any(config._values[name] for name in _ABOUT_KEYS)
    _eager.follow(is_on or any(name in _ABOUT_KEYS and value for name, value in config._local))


class Config:
    """All settings as attributes; `update` changes one."""

    def __init__(self):
        object.__setattr__(self, "_values", dict(_DEFAULTS))
        object.__setattr__(self, "_local", [])

    def _check(self, name):
        if name not in self._values:
            raise _user_error(AttributeError, f"Unrecognized config option: {name}")

    def update(self, name, val):
        """Sets a setting for the process."""
        self._check(name)
        val = _as_kept(name, val)
        flags = _flags(name, val)
        self._values[name] = val
        _tell(name, val)
        for flag, on in flags.items():
            _core.set_setting(flag, on)
        _note_guard(name, val)
        if name == "jax_transfer_guard":
            for way in _WAYS:
                self.update(way, val)
        if name in _ABOUT_KEYS and "config" in globals():
            _follow_key_reuse()

    def read(self, name):
        """The value of a setting."""
        self._check(name)
        return getattr(self, name)

    def __getattr__(self, name):
        if name == "x64_enabled":
            name = "jax_enable_x64"
        if name in _CORE:
            return _core.is_setting_on(_CORE[name][0])
        for known, value in reversed(self._local):
            if known == name:
                return value
        if name in self._values:
            return self._values[name]
        raise _user_error(AttributeError, f"'Config' object has no attribute '{name}': there is no config option of this name")

    def __setattr__(self, name, value):
        self.update(name, value)

    @property
    def values(self):
        return dict(self._values)

    def parse_flags_with_absl(self):
        """Flags of the command line are not read."""

    def config_with_absl(self):
        """Flags of the command line are not read."""

    def _read_environment(self):
        for name, default in _DEFAULTS.items():
            text = _os.environ.get(name.upper())
            if text is None:
                continue
            if isinstance(default, bool):
                self.update(name, _environment.truth(name.upper(), text))
            elif isinstance(default, int):
                self.update(name, _environment.whole(name.upper(), text, -(2**63), 2**63 - 1))
            elif name == "pullback_memory_limit":
                self.update(name, _environment.whole(name.upper(), text, 0, 2**63 - 1))
            else:
                self._read_word(name, text)

    def _read_word(self, name, text):
        try:
            self.update(name, text)
        except (TypeError, ValueError) as error:
            raise _user_error(ValueError, f"invalid value {text!r} for environment {name.upper()!r}: {error}") from None


config = Config()
config._read_environment()
_environment.check_own()
if _environment.may_have_plugins():
    _core.expect_plugins()


# Stands for a value that was not given, as `None` is one.
_NOT_GIVEN = object()


class _State:
    """A context for one setting on this thread; called without a value it sets the value given here."""

    def __init__(self, name, when_called=True, doc=""):
        self._name, self._when_called, self.__doc__ = name, when_called, doc

    @property
    def value(self):
        return getattr(config, self._name)

    @_contextlib.contextmanager
    def _context(self, value):
        flags = _flags(self._name, value)
        _note_guard(self._name, value)
        if value is None and self._name in _WAYS:
            # The guard of the process holds.
            flags = dict.fromkeys(flags)
        before = {flag: _core.set_setting_on_thread(flag, on) for flag, on in flags.items()}
        config._local.append((self._name, value))
        told = _tell(self._name, value)
        if self._name in _ABOUT_KEYS:
            _follow_key_reuse()
        try:
            yield
        finally:
            config._local.pop()
            if self._name in _ABOUT_KEYS:
                _follow_key_reuse()
            if self._name == "jax_default_device":
                _core.set_default_device(told)
            for flag, on in before.items():
                _core.set_setting_on_thread(flag, on)

    def __call__(self, new_val=_NOT_GIVEN):
        return self._context(self._when_called if new_val is _NOT_GIVEN or new_val is None else new_val)

    def __bool__(self):
        raise _user_error(TypeError, "a setting is no boolean; read its value from jax.config")


enable_x64 = _State("jax_enable_x64", doc="A context with 64-bit types on, or off with `False`.")
_disable_jit = _State("jax_disable_jit")
debug_nans = _State("jax_debug_nans", doc="A context in which a NaN is an error.")
debug_infs = _State("jax_debug_infs", doc="A context in which an infinity is an error.")
check_tracer_leaks = _State("jax_check_tracer_leaks", doc="A context that looks for leaked tracers, or not with `False`.")
checking_leaks = _functools.partial(check_tracer_leaks, True)
enable_checks = _State("jax_enable_checks", doc="A context with internal checks.")
enable_custom_prng = _State("jax_enable_custom_prng", doc="A context in which keys are typed.")
numpy_dtype_promotion = _State("jax_numpy_dtype_promotion", "standard", doc="A context with a rule of dtype promotion.")
numpy_rank_promotion = _State("jax_numpy_rank_promotion", "allow", doc="A context with a rule of rank promotion.")
default_matmul_precision = _State("jax_default_matmul_precision", None, doc="A context with a precision of products.")
default_prng_impl = _State("jax_default_prng_impl", "threefry2x32", doc="A context with a generator of random bits.")
default_device = _State("jax_default_device", None, doc="A context with a default device.")
threefry_partitionable = _State("jax_threefry_partitionable", doc="A context with partitionable random bits.")
log_compiles = _State("jax_log_compiles", doc="A context in which each jitted function that is compiled is logged, with the types of its arguments.")
thread_guard = _State("jax_thread_guard", doc="A context about threads of several processes; in one process it changes nothing.")
debug_key_reuse = _State("jax_debug_key_reuse", doc="A context that looks for reused keys.")
legacy_prng_key = _State("jax_legacy_prng_key", "allow", doc="A context with a rule for raw keys.")
transfer_guard_host_to_device = _State(
    "jax_transfer_guard_host_to_device", None, doc="A context with a rule of numbers and NumPy arrays that enter operations."
)
transfer_guard_device_to_device = _State(
    "jax_transfer_guard_device_to_device", None, doc="A context with a rule of arrays that go from one device to another."
)
transfer_guard_device_to_host = _State(
    "jax_transfer_guard_device_to_host", None, doc="A context with a rule of transfers from devices. There are none on the CPU, whose memory is the host's."
)
softmax_custom_jvp = _State("jax_softmax_custom_jvp", doc="A context about the rule of softmax's derivative; both have its values.")
explain_cache_misses = _State("jax_explain_cache_misses", doc="A context in which each trace of a jitted function is logged with its reason, which `f.cache_info()` has.")
jax2tf_associative_scan_reductions = _State(
    "jax2tf_associative_scan_reductions", doc="A context about reductions that another system converts; there is no such conversion."
)
remove_size_one_mesh_axis_from_type = _State(
    "jax_remove_size_one_mesh_axis_from_type", doc="A context about mesh axes of size 1 in types; types do not show them."
)


allow_f16_reductions = _State(
    "jax_allow_f16_reductions", doc="A context in which `lax.reduce_sum` of half-width floats is allowed, or with `False` an error."
)
auto_pcast = _State(
    "jax_auto_pcast",
    doc="A context in which values become varying over mesh axes by themselves, or with `False` an error asks for `lax.pcast`.",
)
no_tracing = _State("jax_no_tracing", doc="A context in which tracing a function is an error; what was traced before runs.")
no_execution = _State("jax_no_execution", doc="A context in which running anything is an error; tracing and lowering are not.")


@_contextlib.contextmanager
def transfer_guard(new_val):
    """A context with a rule of all transfers between host and devices.

    What enters an operation of Python's numbers and NumPy's arrays is a transfer to a device; what `jax.device_put` is given, an
    explicit one. Constants of a program that is traced are none, and nothing is one that goes to NumPy from the CPU.

    Args:
      new_val: "allow"; "log" or "disallow" for transfers that are not asked for; "log_explicit" or "disallow_explicit" for all; or
        None for what holds in the process.
    Returns: a context, in which a transfer that is disallowed is a `JaxRuntimeError`, and one that is logged a line of the logger
      "pullback".
    Raises:
      ValueError: when it is entered, for another value.
    Differentiable: no; it takes no arrays.
    Example:
      >>> x = jnp.ones(2)
      >>> with jax.transfer_guard("disallow"):
      ...     print(x.sum())
      2.0
    """
    with _contextlib.ExitStack() as rules:
        for name in ("jax_transfer_guard", *_WAYS):
            rules.enter_context(_State(name)._context(new_val))
        yield


_safe_where = _State("pullback_safe_where")


def safe_grads(enable=True):
    """A context, or decorator, in which derivatives of what a choice dropped are zero, whatever they are multiplied with.

    A cotangent or tangent that `where`, `cond`, `maximum`, `clip`, a slice, a pad or an index dropped is a structural zero, and a
    structural zero times infinity or NaN is zero; so is the infinite slope of `sqrt` at 0 times an exact 0. An infinity or a NaN that
    reaches the output stays. `docs/gradients.md` says which rule holds where. The setting is `pullback_safe_where`.

    Args:
      enable: whether to; with `False` derivatives are the ordinary ones inside.
    Returns: a context, or decorator.
    Differentiable: yes: it is a rule of differentiation, forward and reverse, of any order.
    Example:
      >>> f = lambda x: jnp.where(x > 0, x**0.5, 7.0)
      >>> jax.grad(f)(0.0)
      Array(nan, dtype=float32)
      >>> with jax.safe_grads():
      ...     jax.grad(f)(0.0)
      Array(0., dtype=float32)
    """
    return _safe_where(enable)


checks = _State("pullback_checked", doc="A context of `checked`.")
_warn_empty = _State("pullback_warn_empty")


def warn_empty(enable=True):
    """A context, or decorator, in which a mean, variance, deviation, maximum or minimum that sees no element warns.

    That a shape is empty is seen at once, that a mask is false all over when it is known: inside of `jit` when the program runs, in
    words that name the line where the reduction stands. The setting is `pullback_warn_empty`; programs traced under it carry the check.

    Args:
      enable: whether to; with `False` nothing warns inside.
    Returns: a context, or decorator.
    Differentiable: yes; it changes no value.
    Example:
      >>> import warnings
      >>> with warnings.catch_warnings(record=True) as caught, jax.warn_empty():
      ...     warnings.simplefilter("always")
      ...     mean = jnp.mean(jnp.ones(2), where=jnp.array([False, False]))
      >>> "sees no element in 1 of 1 results" in str(caught[0].message)
      True
    """
    return _warn_empty(enable)


@_contextlib.contextmanager
def watch_nans(nans=True, infs=False):
    """A context, or decorator, in which a NaN that reaches a result is an error that says where it was made.

    Compiled programs compute a flag beside their results, in the same loops. A program that gave a NaN is run again
    operation by operation from its arguments, which stay meanwhile even where they are donated: the error names the operation, your
    line, the element, its operands, and the iteration of a loop. What a `where` hides from the results is left alone. The settings are
    JAX's `jax_debug_nans` and `jax_debug_infs`.

    Args:
      nans: whether NaN is an error.
      infs: whether an infinity is, too.
    Returns: a context, or decorator.
    Raises:
      FloatingPointError: inside, when a result holds such a number.
    Differentiable: yes; derivatives inside are watched likewise.
    Example:
      >>> try:
      ...     with jax.watch_nans():
      ...         jnp.log(jnp.array([1.0, -1.0]))
      ... except FloatingPointError as error:
      ...     print(str(error).splitlines()[:3])
      ['invalid value (nan) encountered in log', '  element (1,) of float32[2]', '  operands there: -1.0']
    """
    with debug_nans(nans), debug_infs(infs):
        yield


def disable_jit(disable=True):
    """A context in which `jit` calls the Python function itself.

    Args:
      disable: whether to; with `False` functions compile again inside.
    Returns: a context, or decorator.
    Differentiable: no; it takes no arrays.
    Example:
      >>> with jax.disable_jit():
      ...     jax.jit(lambda x: 1.0 if x > 0 else 0.0)(2.0)
      1.0
    """
    return _disable_jit(disable)


def array_garbage_collection_guard(new_val=_NOT_GIVEN):
    """A context about arrays that the garbage collector frees, and not the last reference to them.

    Args:
      new_val: "allow"; the default.
    Returns: a context.
    Raises:
      NotImplementedError: "log" or "fatal": such arrays are not noticed.
      ValueError: anything else.
    Differentiable: no; it takes no arrays.
    Example:
      >>> with jax.array_garbage_collection_guard("allow"):
      ...     jnp.ones(2).sum()
      Array(2., dtype=float32)
    """
    if new_val not in (_NOT_GIVEN, None, "allow", "log", "fatal"):
        text = f"new enum value must be None or in ['allow', 'log', 'fatal'], got {new_val} of type {type(new_val)}."
        raise _user_error(ValueError, text)
    if new_val in ("log", "fatal"):
        raise _user_error(
            NotImplementedError,
            f"array_garbage_collection_guard({new_val!r}) is not implemented: arrays freed by the garbage collector are not noticed; "
            "gc.set_debug(gc.DEBUG_SAVEALL) keeps them for you to look at"
        )
    return _contextlib.nullcontext()
