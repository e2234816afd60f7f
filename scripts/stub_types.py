"""Types of parameters, results and members, as the stubs show them.

A name means the same in every function, so one table by parameter name types nearly all; `BY_FUNCTION` has the exceptions.
Results are arrays unless `RESULTS` says otherwise; those of functions that only the package itself calls are in
`NATIVE_RESULTS`. `Any` stands for trees and other values of any class.
"""

import re

ARRAY, DTYPE, SHAPE = "ArrayLike", "DTypeLike", "Sequence[int] | int"

_NAMES = {
    ARRAY: (
        "x y z a b A B x1 x2 operand operands array arr ary arrays arys m v lhs rhs update updates primals p q mean scale sigma "
        "initial start_indices start_index scatter_indices indices weights pred which on_true on_false min max a1 a2 element "
        "test_elements stddev lower upper minval maxval df dfnum dfden alpha beta lam loc concentration logits variance total_count "
        "xp fp xi values val prepend append fweights aweights left right prototype condition choices object n k "
        "padding_value max_val min_val start stop c low high data negative_slope nan posinf neginf "
        "src key_bits_array dfs nu probs accumulator tril triu kth discont bins obj index value"
    ),
    "ArrayLike | None": "where period sorter fill_value default step to",
    DTYPE: "new_dtype dtype1 dtype2 t1 t2 from_ type",
    "DTypeLike | None": "dtype preferred_element_type index_dtype out_dtype",
    "int | Sequence[int] | None": "axis",
    "int": (
        "axis1 axis2 axisa axisb axisc offset dimension start_dimension stop_dimension ndim ndmin decimals num N M "
        "num_keys num_classes exponent_bits mantissa_bits rank limit_index stride slice_size axis_size recall ddof minlength "
        "in_axis out_axis batch_axis num_samples position seed"
    ),
    "int | None": "length size total_repeat_length batch_size num_segments",
    "Sequence[int]": (
        "axes dimensions sizes slice_sizes limit_indices strides permutation broadcast_dimensions new_sizes window_dimensions "
        "window_strides perm dims"
    ),
    SHAPE: "shape source destination reps shift repeats",
    "bool": (
        "keepdims reverse is_stable indices_are_sorted unique_indices promote_integers include_initial rowvar sparse stable "
        "descending replace independent approximate return_sign invert assume_unique endpoint retstep increasing equal_nan "
        "weak_type deg has_aux holomorphic allow_int simple overwrite_input returned bias density sorted copy "
        "assume_unique_indices return_index return_inverse return_counts return_indices prevent_cse "
        "allow_negative_indices wrap_negative_indices symbolic_zeros ordered tiled is_predicate symmetric is_typed is_transposed "
        "is_single is_committed keep_unused debug_info is_leaf_takes_path is_versioned refcheck"
    ),
    "None": "out order out_sharding sharding",
    # Trees, and objects of any class.
    "Any": (
        "tree prefix full init xs rest residuals linear out_cts result_like in_axes out_axes policy on "
        "static_argnums static_argnames _dot_general axis_name"
    ),
    "tuple[Any, ...]": "args tangents",
    "dict[str, Any]": "kwargs options",
    "CpuDevice | Sharding": "device",
    "PrecisionLike": "precision",
    "Tolerance | AccuracyMode | None": "accuracy",
    "int | Sequence[int] | ArrayLike": "indices_or_sections",
    "Sequence[str] | str": "names",
    "Sequence[Sequence[int]] | None": "groups",
    "Sequence[Sequence[str]]": "entries",
    "Sequence[tuple[int, int, int]]": "padding_config",
    "Sequence[Any] | dict[int, Any] | int": "pad_width",
    "Iterable[Any]": "iterable",
    "MeshHandle": "mesh",
    "Staged": "staged",
    "ShapedArray": "aval",
    "type": "nodetype cls",
    "int | bool": "unroll",
    "Sequence[bool]": "donated used_outputs kept_inputs",
    "Sequence[str]": "rule_names meta",
    "int | Sequence[int]": "argnums",
    "RoundingMethod | int | None": "rounding_method",
    "bool | str": "optimize",
    "str": "name transform what fmt rule_name algorithm separator side indexing casting text distribution subscripts",
    "str | None": "kind method mode impl vmap_method",
    "Array": "key keys",
    "float": "rtol atol dx epsilon momentum spacing base",
    "float | None": "correction",
    "Callable[..., Any]": (
        "fun f rule forward backward cond_fun body_fun flatten_func unflatten_func func callback flatten_with_keys_func matvec "
        "solve transpose_solve fun_transpose"
    ),
    "Callable[[Any], bool] | None": "is_leaf",
    "Sequence[Any]": "branches tup leaves consts condlist choicelist elements parts treedefs",
    "PyTreeDef": "treedef",
    "Jaxpr": "jaxpr",
}

PARAMETERS = {name: kind for kind, names in _NAMES.items() for name in names.split()}

# Exceptions: `function.parameter`.
BY_FUNCTION = {
    "where.x": "ArrayLike | None",
    "where.y": "ArrayLike | None",
    "arange.start": ARRAY,
    "array.object": "ArrayLike | Sequence[Any]",
    "asarray.a": "ArrayLike | Sequence[Any]",
    "array.copy": "bool | None",
    "asarray.copy": "bool | None",
    "array.order": "str | None",
    "asarray.order": "str | None",
    "ravel.order": "str",
    "flatten.order": "str",
    "tobytes.order": "str",
    "tensordot.axes": "int | Sequence[Any]",
    "reshape.order": "str",
    "eye.k": "int",
    "tri.k": "int",
    "tril.k": "int",
    "triu.k": "int",
    "diag.k": "int",
    "diagflat.k": "int",
    "rot90.k": "int",
    "rot90.axes": "tuple[int, int]",
    "top_k.k": "int",
    "one_hot.axis": "int",
    "transpose.axes": "Sequence[int] | None",
    "jvp.primals": "tuple[Any, ...]",
    "linearize_at.primals": "tuple[Any, ...]",
    "cond.operands": "Sequence[Any]",
    "_register_dataclass.data": "Sequence[str]",
    "keystr.keys": "Iterable[Any]",
    "set_default_device.device": "int",
    "put_on_device.device": "int",
    "constrain.device": "int",
    "vmap_call.axis_size": "int | None",
    "full.fill_value": ARRAY,
    "full_like.fill_value": ARRAY,
    "gather.dimension_numbers": "GatherDimensionNumbers",
    "dot.dimension_numbers": "DotDimensionNumbers | None",
    "dot_general.dimension_numbers": "DotDimensionNumbers",
    **{
        f"{name}.dimension_numbers": "ScatterDimensionNumbers"
        for name in ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max")
    },
}

# Each one of the arguments that a starred parameter takes.
VARIADIC = {"broadcast_shapes.shapes": "Sequence[int]"}
_VARIADIC_NAMES = dict.fromkeys(("args", "arys", "operands", "cases", "xi"), ARRAY)

RESULTS = {
    **dict.fromkeys("split array_split hsplit vsplit dsplit meshgrid broadcast_arrays".split(), "list[Array]"),
    **dict.fromkeys("nonzero unravel_index divmod modf frexp ix_ tril_indices triu_indices diag_indices".split(), "tuple[Array, ...]"),
    **dict.fromkeys("shape broadcast_shapes".split(), "tuple[int, ...]"),
    **dict.fromkeys("ndim size".split(), "int"),
    **dict.fromkeys("can_cast issubdtype isdtype iscomplexobj isrealobj isscalar".split(), "bool"),
    **dict.fromkeys("result_type promote_types".split(), "_np.dtype[Any]"),
    # An array or several, as arguments say: a union would make every use of the result an error to a type checker.
    **dict.fromkeys("sort average logsumexp".split(), "Any"),
    "sort_key_val": "tuple[Array, Array]",
}
# `random.split` gives one array of keys.
RESULTS_BY_MODULE = {
    "random.split": "Array", "numpy.sort": "Array", "numpy.top_k": "tuple[Array, Array]", "lax.top_k": "list[Array]",
}

_NATIVE = {
    "None": (
        "_panic _register_dataclass clear_bodies clear_executables debug_callback enter_evaluation leave_evaluation "
        "register_pytree_node set_default_device set_setting set_setting_on_thread"
    ),
    "Array": (
        "_rebuild_array assemble constrain index_get index_update put_on_device put_on_mesh shard_of to_array from_dlpack_capsule"
    ),
    "bool": (
        "all_leaves is_concrete is_registered is_setting_on tangent_dtype_is_float0 trace_state_clean treedef_is_leaf "
        "treedef_is_strict_leaf"
    ),
    "int": "default_device_id n_compiled settings_word",
    "str": "describe_function keystr",
    "str | None": "_prefix_mismatch user_line",
    "PyTreeDef": "tree_structure treedef_from_children treedef_tuple",
    "list[PyTreeDef]": "treedef_children",
    "list[Any]": "_broadcast_prefix eval_jaxpr io_callback pure_callback tree_leaves",
    "list[tuple[Any, Any]]": "_keyed_children",
    "tuple[list[Any], PyTreeDef]": "tree_flatten",
    "tuple[list[tuple[tuple[Any, ...], Any]], PyTreeDef]": "tree_flatten_with_path",
    "list[str]": "primitive_names setting_names",
    "_np.dtype[Any]": "as_dtype",
    "ShapedArray": "typeof",
    "Jaxpr": "open_constvars",
    "Primitive": "find_primitive",
    "Inspection": "inspect",
    "LoweredText": "stablehlo",
    "NameStack": "current_name_stack _set_name_stack",
    "Staged": "stage_call",
    "type": "register_static",
}
# Of functions of `pullback._core` itself; `Any` for the rest, which give trees.
NATIVE_RESULTS = {name: kind for kind, names in _NATIVE.items() for name in names.split()}

_MEMBERS = {
    "Array": {
        "tuple[int, ...]": "shape",
        "int": "ndim size nbytes itemsize __len__ __int__ __index__ unsafe_buffer_pointer on_device_size_in_bytes",
        "bool": "__bool__ __contains__ weak_type committed is_deleted is_ready is_fully_addressable is_fully_replicated",
        "float": "__float__",
        "complex": "__complex__",
        "bytes": "tobytes",
        "str": "platform",
        "None": "delete copy_to_host_async __release_buffer__",
        "memoryview": "__buffer__",
        "tuple[Array, Array]": "__divmod__ __rdivmod__",
        "tuple[int, int]": "__dlpack_device__",
        "dict[str, Any]": "__cuda_array_interface__",
        "Iterator[Array]": "__iter__ __reversed__",
        "tuple[Array, ...]": "nonzero",
        "_np.dtype[Any]": "dtype __numpy_dtype__",
        "_np.ndarray[Any, Any]": "__array__",
        "ShapedArray": "aval",
        "Sharding": "sharding",
        "CpuDevice | Sharding": "device",
        "set[CpuDevice]": "devices",
        "list[Shard]": "addressable_shards global_shards",
        "_IndexUpdateHelper": "at",
        # A Python number of the array's kind, or lists of them; a module; a capsule.
        "Any": "item tolist flat __array_namespace__ __dlpack__",
    },
    "PyTreeDef": {
        "int": "num_leaves num_nodes",
        "list[PyTreeDef]": "children",
        "PyTreeDef": "compose from_node_data_and_children",
        "list[Any]": "flatten_up_to",
        "tuple[type, Any] | None": "node_data",
    },
    "ShapedArray": {
        "tuple[int, ...]": "shape",
        "int": "ndim size __len__",
        "bool": "weak_type",
        "str": "str_short",
        "_np.dtype[Any]": "dtype",
        "frozenset[str]": "vma",
        "ShapedArray": "at_least_vspace strip_weak_type to_ct_aval to_tangent_aval update",
    },
    "Jaxpr": {
        "list[Any]": "consts literals",
        "list[Var]": "constvars invars",
        "list[Var | Literal]": "outvars",
        "list[JaxprEqn]": "eqns",
        "list[ShapedArray]": "in_avals out_avals",
        "frozenset[Any]": "effects",
        "DebugInfo": "debug_info",
        "Jaxpr": "jaxpr map_jaxpr replace",
        "str": "pretty_print",
    },
    "JaxprEqn": {
        "list[Var | Literal]": "invars",
        "list[Var]": "outvars",
        "dict[str, Any]": "params",
        "Primitive": "primitive",
        "frozenset[Any]": "effects",
        "JaxprEqn": "replace",
        "SourceInfo": "source_info",
    },
    "Primitive": {"str": "name", "bool": "has_effects is_core map_primitive call_primitive multiple_results"},
    "Staged": {
        "str": "name",
        "PyTreeDef": "in_tree out_tree",
        "Jaxpr": "jaxpr",
        "list[ShapedArray]": "flat_in_avals flat_out_avals",
        "list[bool]": "perturbed_captures",
        "None": "compile",
    },
    "PjitFunction": {"Lowered": "lower", "Traced": "trace", "None": "clear_cache"},
    "Inspection": {"str": "after before jaxpr machine_code report simplified"},
    "LoweredText": {"str": "text"},
    "JitCache": {"int": "__len__", "None": "clear"},
    "Literal": {"ShapedArray": "aval"},
    "Var": {"ShapedArray": "aval"},
    "SourceInfo": {"NameStack": "name_stack", "bool": "__bool__"},
    "NameStack": {"list[str]": "stack", "NameStack": "extend __add__ __radd__"},
    "SymbolicZero": {"ShapedArray": "aval", "SymbolicZero": "from_primal_value"},
    "CustomVJPPrimal": {"bool": "perturbed"},
    "SequenceKey": {"int": "idx"},
    "FlattenedIndexKey": {"int": "key"},
    "GetAttrKey": {"str": "name"},
    "UfuncBase": {"Array": "__call__"},
}
MEMBERS = {
    f"{owner}.{name}": kind for owner, table in _MEMBERS.items() for kind, names in table.items() for name in names.split()
}
# Where types that stubs name are found.
HOMES = {
    "_np": "import numpy as _np",
    "np": "import numpy as np",
    "Literal": "from typing import Literal",
    "lax": "import pullback.lax as lax",
    **{
        name: f"from pullback.numpy.linalg import {name}"
        for name in ("EigResult", "EighResult", "QRResult", "SlogdetResult", "SVDResult")
    },
    "ModeResult": "from pullback.scipy.stats._samples import ModeResult",
    "Self": "from typing import Self",
    "disjoint_base": "from typing_extensions import disjoint_base",
    "final": "from typing import final",
    "Iterable": "from collections.abc import Iterable",
    "Iterator": "from collections.abc import Iterator",
    "CpuDevice": "from pullback._device import CpuDevice",
    "ShapeDtypeStruct": "from pullback import ShapeDtypeStruct",
    "Shard": "from pullback._device import Shard",
    "Sharding": "from pullback.sharding import Sharding",
    "_IndexUpdateHelper": "from pullback._indexing import _IndexUpdateHelper",
    "Lowered": "from pullback.stages import Lowered",
    "Traced": "from pullback.stages import Traced",
    **{
        name: f"from pullback.lax._records import {name}"
        for name in (
            "AccuracyMode", "DotDimensionNumbers", "GatherDimensionNumbers", "PrecisionLike", "RoundingMethod",
            "ScatterDimensionNumbers", "Tolerance",
        )
    },
}


def parameter_type(function, name, is_starred=False):
    """The type of a parameter (of each argument, for a starred one); `Any` when the tables do not know it."""
    if is_starred:
        return VARIADIC.get(f"{function}.{name}") or _VARIADIC_NAMES.get(name, "Any")
    return BY_FUNCTION.get(f"{function}.{name}") or PARAMETERS.get(name, "Any")


def result_type(module, function):
    """The type of a function's result."""
    return RESULTS_BY_MODULE.get(f"{module}.{function}") or RESULTS.get(function, "Array")


def member_type(owner, member):
    """The type of a property, or of a method's result; those of arrays are arrays where nothing else is said."""
    return MEMBERS.get(f"{owner}.{member}") or ("Array" if owner == "Array" else "Any")


def is_own(name, text):
    """Whether the stub itself has a class or module of the name."""
    return f"class {name}(" in text or f"import {name} as {name}\n" in text


def imports_of(text):
    """Lines that import the types that a stub names."""
    named = set(re.findall(r"\b\w+\b", text))
    return "".join(f"{line}\n" for name, line in sorted(HOMES.items()) if name in named and not is_own(name, text))
