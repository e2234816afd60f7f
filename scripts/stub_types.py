"""Types of parameters and results, as the stubs show them.

A name means the same in every function, so one table by parameter name types nearly all; `BY_FUNCTION` has the exceptions.
Results are arrays unless `RESULTS` says otherwise.
"""

ARRAY, DTYPE, SHAPE = "ArrayLike", "DTypeLike", "Sequence[int] | int"

_NAMES = {
    ARRAY: (
        "x y z a b A B x1 x2 operand operands array arr ary arrays arys m v lhs rhs update updates primals p q mean scale sigma "
        "initial start_indices start_index scatter_indices indices weights pred which on_true on_false min max a1 a2 element "
        "test_elements stddev lower upper minval maxval df dfnum dfden alpha beta lam loc concentration logits variance total_count "
        "xp fp xi values val prepend append fweights aweights left right prototype condition choices object n k "
        "padding_value max_val min_val start stop c low high data negative_slope nan posinf neginf "
        "src key_bits_array dfs nu probs accumulator tril triu"
    ),
    "ArrayLike | None": "where period sorter fill_value default step to",
    DTYPE: "new_dtype dtype1 dtype2 t1 t2 from_ type",
    "DTypeLike | None": "dtype preferred_element_type index_dtype out_dtype",
    "int | Sequence[int] | None": "axis",
    "int": (
        "axis1 axis2 axisa axisb axisc offset dimension start_dimension stop_dimension ndim ndmin decimals num N M "
        "num_keys num_classes exponent_bits mantissa_bits rank limit_index stride slice_size axis_size recall ddof minlength "
        "in_axis out_axis batch_axis num_samples"
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
        "assume_unique_indices wrap_negative_indices return_index return_inverse return_counts return_indices prevent_cse "
        "allow_negative_indices"
    ),
    "None": "out order out_sharding sharding",
    "Any": "device accuracy precision dimension_numbers init staged aval _dot_general",
    "str": "name transform what fmt rule_name algorithm separator side indexing casting",
    "str | None": "kind method mode impl",
    "Array": "key keys",
    "float": "rtol atol dx epsilon momentum spacing",
    "Callable[..., Any]": "fun f rule forward backward cond_fun body_fun flatten_func unflatten_func func callback",
    "Callable[[Any], bool] | None": "is_leaf",
    "Sequence[Any]": "branches tup leaves consts condlist choicelist cases elements",
    "PyTreeDef": "treedef",
    "Jaxpr": "jaxpr",
}

PARAMETERS = {name: kind for kind, names in _NAMES.items() for name in names.split()}

# Exceptions: `function.parameter`.
BY_FUNCTION = {
    "where.x": "ArrayLike | None",
    "where.y": "ArrayLike | None",
    "arange.start": ARRAY,
    "array.copy": "bool | None",
    "asarray.copy": "bool | None",
    "array.order": "str | None",
    "asarray.order": "str | None",
    "ravel.order": "str",
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
}

RESULTS = {
    **dict.fromkeys("split array_split hsplit vsplit dsplit meshgrid broadcast_arrays".split(), "list[Array]"),
    **dict.fromkeys("nonzero unravel_index divmod modf frexp ix_ tril_indices triu_indices diag_indices".split(), "tuple[Array, ...]"),
    **dict.fromkeys("shape broadcast_shapes".split(), "tuple[int, ...]"),
    **dict.fromkeys("ndim size".split(), "int"),
    **dict.fromkeys("can_cast issubdtype isdtype iscomplexobj isrealobj isscalar".split(), "bool"),
    **dict.fromkeys("result_type promote_types as_dtype".split(), "Any"),
    **dict.fromkeys(
        "sort average unique histogram logsumexp sort_key_val top_k slogdet qr svd eigh tree_map".split(), "Any"
    ),
}
# `random.split` gives one array of keys.
RESULTS_BY_MODULE = {"random.split": "Array", "numpy.sort": "Array"}


def parameter_type(function, name):
    """The type of a parameter; `Any` when the tables do not know it."""
    return BY_FUNCTION.get(f"{function}.{name}") or PARAMETERS.get(name, "Any")


def result_type(module, function):
    """The type of a function's result."""
    return RESULTS_BY_MODULE.get(f"{module}.{function}") or RESULTS.get(function, "Array")
