"""The text of HLO, XLA's own language, made from the StableHLO text of a program before anything is optimized.

A StableHLO function is a computation here, and so is each region of an operation. A region of StableHLO sees the values around it; a
computation sees its parameters alone, so what a branch sees is given to it in a tuple. Layouts are those of rows, the last axis first.
Functions of the dialect CHLO, such as `erf_inv`, are custom calls with their name.
"""

import math
import re
import struct
from dataclasses import dataclass, field

from pullback._core import user_error as _user_error

_ELEMENTS = {"i1": "pred", "complex<f32>": "c64", "complex<f64>": "c128"}
# Operations of the same operands and no attributes whose name is another than that of StableHLO.
_NAMES = {
    "atan2": "atan2", "ceil": "ceil", "count_leading_zeros": "count-leading-zeros", "exponential_minus_one": "exponential-minus-one",
    "log_plus_one": "log-plus-one", "is_finite": "is-finite", "popcnt": "popcnt", "round_nearest_afz": "round-nearest-afz",
    "round_nearest_even": "round-nearest-even", "shift_left": "shift-left", "shift_right_arithmetic": "shift-right-arithmetic",
    "shift_right_logical": "shift-right-logical", "bitcast_convert": "bitcast-convert",
    "partition_id": "partition-id", "replica_id": "replica-id", "dynamic_update_slice": "dynamic-update-slice",
}  # fmt: skip
_SAME = frozenset(
    "abs add and cbrt clamp complex convert cosine divide exponential floor imag log logistic maximum minimum multiply negate not or power "
    "real remainder reshape rsqrt select sign sine sqrt subtract tan tanh xor".split()
)

# Constants that StableHLO holds as more digits than twice this are shown as dots: their one repeated element is not.
_BYTES_SHOWN = 20


@dataclass
class _Type:
    element: str
    sizes: tuple

    def __str__(self):
        order = ",".join(map(str, reversed(range(len(self.sizes)))))
        return f"{self.element}[{','.join(map(str, self.sizes))}]" + (f"{{{order}}}" if self.sizes else "")


@dataclass
class _Op:
    names: list
    kind: str
    operands: list
    attributes: str
    types: list
    regions: list = field(default_factory=list)
    callee: str = ""


@dataclass
class _Block:
    arguments: list
    types: list
    ops: list
    results: list


def _types_of(text):
    """The types in a text, in order."""
    return [_type(found) for found in re.findall(r"tensor<((?:[^<>]|<[^<>]*>)*)>", text)]


def _type(text):
    *sizes, element = re.fullmatch(r"((?:\d+x)*)(.*)", text).groups()[0].split("x")[:-1] + [re.sub(r"^(\d+x)+", "", text)]
    element = _ELEMENTS.get(element) or re.sub(r"^ui", "u", re.sub(r"^i", "s", element)).lower()
    return _Type(element, tuple(map(int, sizes)))


def _values_in(text):
    return re.findall(r"%[\w]+(?:#\d+)?", text)


class _Reader:
    """Reads the text that `crates/stablehlo` writes: one operation a line, regions between lines that open and close them."""

    def __init__(self, text):
        self.lines = [line.strip() for line in text.splitlines() if line.strip()]
        self.at = 0

    def next(self):
        self.at += 1
        return self.lines[self.at - 1]

    def module(self):
        name = re.match(r"module @(\S+)", self.next())[1]
        functions = {}
        while self.at < len(self.lines):
            line = self.next()
            found = re.match(r"func\.func (?:public |private )?@(\S+?)\((.*)\)(?: -> (.*?))? *(?:attributes .*)?\{$", line)
            if found:
                arguments = re.findall(r"(%arg\d+): tensor<((?:[^<>]|<[^<>]*>)*)>", found[2])
                functions[found[1]] = self.block([name for name, _ in arguments], [_type(text) for _, text in arguments])
        return name, functions

    def block(self, arguments, types):
        ops = []
        while True:
            line = self.next()
            if line.startswith("^bb"):
                pairs = re.findall(r"(%\w+): tensor<((?:[^<>]|<[^<>]*>)*)>", line)
                arguments, types = [name for name, _ in pairs], [_type(text) for _, text in pairs]
            elif re.match(r"(stablehlo\.|func\.)?return\b", line):
                return _Block(arguments, types, ops, _values_in(line.split(" : ")[0]))
            else:
                ops.append(self.operation(line))

    def operation(self, line):
        found = re.match(r"(?:(%\w+)(?::(\d+))? = )?(.*)$", line)
        names = [] if found[1] is None else [found[1]] if found[2] is None else [f"{found[1]}#{k}" for k in range(int(found[2]))]
        text = found[3]
        if text.startswith('"'):
            return self.generic(names, text)
        if text.startswith("call "):
            head, types = text.rsplit(" : ", 1)
            callee = re.match(r"call @([^\s(]+)", head)[1]
            return _Op(names, "call", _values_in(head), "", _types_of(types.split("->")[-1]), callee=callee)
        dialect, kind = re.match(r"(stablehlo|chlo)\.(\w+)", text).groups()
        if dialect == "chlo":
            # XLA expands these to many operations, each a choice of its own; as text they are one.
            head, types = _halves(text)
            return _Op(names, "custom_call", _values_in(head), f'call_target_name = "chlo.{kind}"', _types_of(types)[-1:])
        if kind == "while":
            return self.loop(names, text)
        head, types = _halves(text)
        return _Op(names, kind, _values_in(head), head, _results_in(kind, types, len(names)))

    def generic(self, names, text):
        kind = re.match(r'"stablehlo\.(\w+)"', text)[1]
        head, regions = text, []
        while text.endswith("({") or text.startswith("}, {"):
            regions.append(self.block([], []))
            text = self.next()
        types = text if regions else _halves(head)[1]
        operands = _values_in(re.match(r'"[^"]*"\(([^)]*)\)', head)[1])
        return _Op(names, kind, operands, head, _types_of(types.split("->")[-1]), regions)

    def loop(self, names, text):
        pairs = re.findall(r"(%iterArg_\w+) = (%[\w#]+)", text)
        types = _types_of(text.rsplit(") : ", 1)[-1])
        carried = [name for name, _ in pairs]
        assert self.next().startswith("cond")
        condition = self.block(carried, types)
        assert self.next().startswith("} do")
        body = self.block(carried, types)
        self.next()
        return _Op(names, "while", [value for _, value in pairs], "", types, [condition, body])


def _halves(text):
    """An operation and its types, between which the last colon outside of brackets stands."""
    depth = 0
    for at in range(len(text) - 1, 0, -1):
        if text[at] in ")>]}":
            depth += text[at - 1 : at + 1] != "->"
        elif text[at] in "(<[{":
            depth -= 1
        elif depth == 0 and text[at - 1 : at + 2] == " : ":
            return text[: at - 1], text[at + 2 :]
    return text, ""


def _results_in(kind, types, count):
    """Types of the results: behind the arrow, or all that is written."""
    found = _types_of(types.split("->")[-1])
    return found[-1:] if kind == "select" or count == 1 else found


def _numbers(text, name):
    """A list of integers that an attribute holds."""
    found = re.search(rf"\b{name} = (?:array<i64: ?|array<i64|dense<|\[)([^\]>]*)", text)
    return [int(number) for number in re.findall(r"-?\d+", found[1])] if found else []


def _pairs(text, name):
    """Pairs of integers that an attribute holds, such as paddings."""
    found = re.search(rf"\b{name} = dense<(.*?)> : tensor<(\d+)x2", text)
    numbers = [int(number) for number in re.findall(r"-?\d+", found[1])]
    return [(numbers * 2)[:2]] * int(found[2]) if len(numbers) == 1 else list(zip(numbers[::2], numbers[1::2]))


def _one(text, name, default=None):
    found = re.search(rf"\b{name} = ([\w.]+)", text)
    return default if found is None else found[1]


def _braces(numbers):
    return "{" + ",".join(map(str, numbers)) + "}"


def _window(sizes, strides, pads, base, window):
    """The window of a convolution or a reduction over windows; parts that change nothing are left out."""
    parts = [f"size={'x'.join(map(str, sizes))}"]
    if any(stride != 1 for stride in strides):
        parts.append(f"stride={'x'.join(map(str, strides))}")
    if any(pad != (0, 0) for pad in pads):
        parts.append(f"pad={'x'.join(f'{low}_{high}' for low, high in pads)}")
    for name, dilation in (("lhs_dilate", base), ("rhs_dilate", window)):
        if any(size != 1 for size in dilation):
            parts.append(f"{name}={'x'.join(map(str, dilation))}")
    return "window={" + " ".join(parts) + "}"


def _precision(text):
    found = re.search(r"precision(?:_config)? = \[(.*?)\]", text)
    words = re.findall(r"DEFAULT|HIGHEST|HIGH", found[1]) if found else []
    return f", operand_precision={_braces([word.lower() for word in words])}" if set(words) - {"DEFAULT"} else ""


def _dot(op):
    text = op.attributes
    parts = []
    for name, attribute in (("batch", "batching_dims"), ("contracting", "contracting_dims")):
        found = re.search(rf"{attribute} = \[(.*?)\] x \[(.*?)\]", text)
        if found and found[1]:
            parts += [f"{side}_{name}_dims={{{dims.replace(' ', '')}}}" for side, dims in zip(("lhs", "rhs"), found.groups())]
    return ", ".join(parts) + _precision(text)


def _convolution(op, operand_types):
    text = op.attributes
    labels = re.search(r"#stablehlo\.conv<\[(.*?)\]x\[(.*?)\]->\[(.*?)\]>", text).groups()
    labels = [part.replace(", ", "") for part in labels]
    spatial = [operand_types[1].sizes[labels[1].index(str(k))] for k in range(len(labels[1]) - 2)]
    ones = [1] * len(spatial)
    dilations = (_numbers(text, "lhs_dilation") or ones, _numbers(text, "rhs_dilation") or ones)
    window = _window(spatial, _numbers(text, "window_strides") or ones, _pairs(text, "padding") if spatial else [], *dilations)
    parts = [window, f"dim_labels={labels[0]}_{labels[1]}->{labels[2]}"]
    for name in ("feature_group_count", "batch_group_count"):
        if _one(text, name) not in (None, "1"):
            parts.append(f"{name}={_one(text, name)}")
    return ", ".join(parts) + _precision(text)


def _reduce_window(op):
    text = op.attributes
    ones = [1] * len(op.types[0].sizes)
    sizes, strides = _numbers(text, "window_dimensions"), _numbers(text, "window_strides") or ones
    return _window(sizes, strides, _pairs(text, "padding"), _numbers(text, "base_dilations") or ones, _numbers(text, "window_dilations") or ones)


_GATHER = (
    ("offset_dims", "offset_dims"), ("collapsed_slice_dims", "collapsed_slice_dims"), ("start_index_map", "start_index_map"),
    ("operand_batching_dims", "operand_batching_dims"), ("start_indices_batching_dims", "start_indices_batching_dims"),
)  # fmt: skip
_SCATTER = (
    ("update_window_dims", "update_window_dims"), ("inserted_window_dims", "inserted_window_dims"),
    ("scatter_dims_to_operand_dims", "scatter_dims_to_operand_dims"), ("input_batching_dims", "input_batching_dims"),
    ("scatter_indices_batching_dims", "scatter_indices_batching_dims"),
)  # fmt: skip


def _indexed(op, fields):
    text = op.attributes
    batching = ("operand_batching_dims", "start_indices_batching_dims", "input_batching_dims", "scatter_indices_batching_dims")
    parts = [f"{name}={_braces(_numbers(text, name))}" for name, _ in fields if name not in batching or _numbers(text, name)]
    parts.append(f"index_vector_dim={_one(text, 'index_vector_dim')}")
    if op.kind == "gather":
        parts.append(f"slice_sizes={_braces(_numbers(text, 'slice_sizes'))}")
    parts += [f"{name}=true" for name in ("indices_are_sorted", "unique_indices") if _one(text, name) == "true"]
    return ", ".join(parts)


def _slices(op):
    bounds = re.search(r"\[([\d:, ]*)\]", op.attributes)[1]
    shown = []
    for bound in filter(None, bounds.split(", ")):
        start, limit, *step = bound.split(":")
        shown.append(f"[{start}:{limit}" + (f":{step[0]}]" if step and step[0] != "1" else "]"))
    return f"slice={{{', '.join(shown)}}}"


def _padding(op):
    low, high, interior = (_numbers(op.attributes, name) for name in ("low", "high", "interior"))
    return "padding=" + "x".join(f"{a}_{b}" + (f"_{c}" if c else "") for a, b, c in zip(low, high, interior))


def _groups(op):
    found = re.search(r"(?:replica_groups|source_target_pairs) = dense<(.*?)>", op.attributes)
    rows = re.findall(r"\[([\d, ]+)\]", found[1]) if found else []
    name = "source_target_pairs" if "source_target_pairs" in op.attributes else "replica_groups"
    return f"{name}={{{','.join('{' + row.replace(' ', '') + '}' for row in rows)}}}"


# Opcode and attributes of the operations that have some.
_WITH_ATTRIBUTES = {
    "broadcast_in_dim": ("broadcast", lambda op: f"dimensions={_braces(_numbers(op.attributes, 'dims'))}"),
    "transpose": ("transpose", lambda op: f"dimensions={_braces(_numbers(op.attributes, 'dims'))}"),
    "reverse": ("reverse", lambda op: f"dimensions={_braces(_numbers(op.attributes, 'dims'))}"),
    "concatenate": ("concatenate", lambda op: f"dimensions={{{_one(op.attributes, 'dim')}}}"),
    "iota": ("iota", lambda op: f"iota_dimension={_one(op.attributes, 'dim')}"),
    "slice": ("slice", _slices),
    "pad": ("pad", _padding),
    "dynamic_slice": ("dynamic-slice", lambda op: f"dynamic_slice_sizes={_braces(_numbers(op.attributes, 'sizes'))}"),
    "dot_general": ("dot", _dot),
    "fft": ("fft", lambda op: f"fft_type={_one(op.attributes, 'type')}, fft_length={_braces(_numbers(op.attributes, 'length'))}"),
    "gather": ("gather", lambda op: _indexed(op, _GATHER)),
    "cholesky": ("cholesky", lambda op: f"lower={_one(op.attributes, 'lower')}"),
    "triangular_solve": (
        "triangular-solve",
        lambda op: ", ".join(f"{name}={_one(op.attributes, name)}" for name in ("left_side", "lower", "unit_diagonal"))
        + f", transpose_a={re.search(r'<transpose (?P<how>[A-Z_]+)>', op.attributes)['how']}",
    ),
    "rng_bit_generator": ("rng-bit-generator", lambda op: f"algorithm=rng_{_one(op.attributes, 'algorithm').lower()}"),
    "custom_call": ("custom-call", lambda op: "custom_call_target=" + re.search(r'call_target_name = ("[^"]*")', op.attributes)[1]),
    "collective_permute": ("collective-permute", _groups),
    "all_to_all": ("all-to-all", _groups),
    "all_gather": ("all-gather", lambda op: f"{_groups(op)}, dimensions={{{_one(op.attributes, 'all_gather_dim')}}}"),
}
# Operations with one computation for their elements: their opcode, and their attributes before it.
_REDUCING = {
    "reduce": ("reduce", lambda op: f"dimensions={_braces(_numbers(op.attributes, 'dimensions'))}"),
    "reduce_window": ("reduce-window", _reduce_window),
    "sort": ("sort", lambda op: f"dimensions={{{_one(op.attributes, 'dimension')}}}, is_stable={_one(op.attributes, 'is_stable', 'false')}"),
    "scatter": ("scatter", lambda op: _indexed(op, _SCATTER)),
    "all_reduce": ("all-reduce", _groups),
    "reduce_scatter": ("reduce-scatter", lambda op: f"{_groups(op)}, dimensions={{{_one(op.attributes, 'scatter_dimension')}}}"),
}


def _element_text(text, element):
    """One element as HLO prints it: a float without the zeros of its exponent."""
    if element == "pred" or not re.match(r"[fbc]", element):
        return text
    if text.startswith("("):
        return "(" + ", ".join(_element_text(part, "f") for part in text[1:-1].split(", ")) + ")"
    if text.startswith("0x"):
        bits = int(text, 16)
        form = {4: "<e", 8: "<f", 16: "<d"}.get(len(text) - 2)
        number = struct.unpack(form, bits.to_bytes((len(text) - 2) // 2, "little"))[0] if form and element != "bf16" else None
        if number is None:
            number = struct.unpack("<f", (bits << 16).to_bytes(4, "little"))[0] if element == "bf16" else math.nan
        return "nan" if math.isnan(number) else ("-inf" if number < 0 else "inf") if math.isinf(number) else repr(number)
    return f"{float(text):.9g}"


class _Writer:
    """Computations, in the order in which they are finished; each name has a number of its own."""

    def __init__(self, functions):
        self.functions, self.written = functions, {}
        self.counts, self.texts = {}, []

    def fresh(self, base):
        self.counts[base] = self.counts.get(base, 0) + 1
        return f"{base}.{self.counts[base]}"

    def function(self, name):
        """The computation of a private function, which is written once."""
        if name not in self.written:
            self.written[name] = self.computation(name, self.functions[name])
        return self.written[name]

    def computation(self, base, block, captured=(), packs=False, entry=False):
        name = self.fresh(base)
        body = _Computation(self, block, captured, packs)
        text = "\n".join(f"  {line}" for line in body.lines)
        self.texts.append(f"{'ENTRY ' if entry else ''}{name} {{\n{text}\n}}\n")
        return name


class _Computation:
    """The lines of one computation."""

    def __init__(self, writer, block, captured, packs):
        self.writer, self.lines, self.names, self.types = writer, [], {}, {}
        given = [*zip(block.arguments, block.types), *captured]
        if packs:
            whole = self.line("arg_tuple", _tuple_type([type for _, type in given]), "parameter(0)")
            for k, (value, type) in enumerate(given):
                self.names[value] = self.line("get-tuple-element", type, f"get-tuple-element({whole}), index={k}")
                self.types[value] = type
        else:
            for k, (value, type) in enumerate(given):
                self.names[value], self.types[value] = self.line("Arg_" + str(k), type, f"parameter({k})"), type
        for op in block.ops:
            self.operation(op)
        self.root(block.results, is_tuple=packs is True)

    def line(self, base, type, text):
        name = self.writer.fresh(base)
        self.lines.append(f"{name} = {type} {text}")
        return name

    def give(self, op, names):
        for value, name, type in zip(op.names, names, op.types):
            self.names[value], self.types[value] = name, type

    def root(self, results, is_tuple):
        if len(results) == 1 and not is_tuple:
            wanted = self.names[results[0]]
            at = next(k for k, line in enumerate(self.lines) if line.startswith(f"{wanted} = "))
            self.lines[at] = "ROOT " + self.lines[at]
            return
        types = [self.types[value] for value in results]
        self.line("tuple", _tuple_type(types), f"tuple({self.operands(results)})")
        self.lines[-1] = "ROOT " + self.lines[-1]

    def operands(self, values):
        return ", ".join(self.names[value] for value in values)

    def emit(self, op, opcode, attributes=""):
        """One instruction; of several results the parts are taken out."""
        tail = f", {attributes}" if attributes else ""
        text = f"{opcode}({self.operands(op.operands)}){tail}"
        if len(op.names) == 1 and "#" not in op.names[0]:
            return self.give(op, [self.line(opcode, op.types[0], text)])
        whole = self.line(opcode, _tuple_type(op.types), text)
        parts = [self.line("get-tuple-element", type, f"get-tuple-element({whole}), index={k}") for k, type in enumerate(op.types)]
        self.give(op, parts)

    def operation(self, op):
        if op.kind in _SAME:
            self.emit(op, op.kind)
        elif op.kind in _NAMES:
            self.emit(op, _NAMES[op.kind])
        elif op.kind in _WITH_ATTRIBUTES:
            opcode, attributes = _WITH_ATTRIBUTES[op.kind]
            self.emit(op, opcode, attributes(op))
        elif op.kind in _REDUCING:
            self.reducing(op)
        else:
            rule = getattr(self, f"_{op.kind}", None)
            if rule is None:
                raise _user_error(NotImplementedError, f"stablehlo.{op.kind} has no form as HLO text here; as_text() shows the program as StableHLO")
            rule(op)

    def reducing(self, op):
        opcode, attributes = _REDUCING[op.kind]
        region = self.region_of(op)
        self.emit(op, opcode, f"{attributes(op)}, to_apply={region}")

    def region_of(self, op):
        if op.regions:
            return self.writer.computation("region", op.regions[0])
        # The short form names the operation that combines two elements.
        element = _Type(op.types[0].element, ())
        kind = re.search(r"applies stablehlo\.(\w+)", op.attributes)[1]
        combined = _Op(["%0"], kind, ["%a", "%b"], "", [element])
        return self.writer.computation("region", _Block(["%a", "%b"], [element, element], [combined], ["%0"]))

    def _compare(self, op):
        direction, kind = re.match(r"stablehlo\.compare (\w+), .*?(\w+)$", op.attributes).groups()
        self.emit(op, "compare", f"direction={direction}" + (", type=TOTALORDER" if kind == "TOTALORDER" else ""))

    def _constant(self, op):
        dense = re.search(r"dense<(.*)>", op.attributes)[1]
        type = op.types[0]
        if dense.startswith('"') and len(dense) > 2 * _BYTES_SHOWN:
            return self.give(op, [self.line("constant", type, "constant({...})")])
        if not type.sizes or "[" in dense:
            numbers = re.sub(r"\([^()]*\)|[^\s\[\],()]+", lambda found: _element_text(found[0], type.element), dense)
            shown = numbers.replace("[", "{").replace("]", "}")
            return self.give(op, [self.line("constant", type, f"constant({shown})")])
        # Equal elements are one that is repeated.
        one = self.line("constant", _Type(type.element, ()), f"constant({_element_text(dense, type.element)})")
        self.give(op, [self.line("broadcast", type, f"broadcast({one}), dimensions={{}}")])

    def _convolution(self, op):
        self.emit(op, "convolution", _convolution(op, [self.types[value] for value in op.operands]))

    def _call(self, op):
        self.emit(op, "call", f"to_apply={self.writer.function(op.callee)}")

    def _reduce_precision(self, op):
        exponent, mantissa = re.search(r"format = e(\d+)m(\d+)", op.attributes).groups()
        self.emit(op, "reduce-precision", f"exponent_bits={exponent}, mantissa_bits={mantissa}")

    def _select_and_scatter(self, op):
        text = op.attributes
        ones = [1] * len(op.types[0].sizes)
        window = _window(
            _numbers(text, "window_dimensions"), _numbers(text, "window_strides") or ones, _pairs(text, "padding"), ones, ones
        )
        select, scatter = (self.writer.computation("region", region) for region in op.regions)
        self.emit(op, "select-and-scatter", f"{window}, select={select}, scatter={scatter}")

    def _optimization_barrier(self, op):
        types = _tuple_type(op.types)
        given = self.line("tuple", types, f"tuple({self.operands(op.operands)})")
        whole = self.line("opt-barrier", types, f"opt-barrier({given})")
        self.give(op, [self.line("get-tuple-element", type, f"get-tuple-element({whole}), index={k}") for k, type in enumerate(op.types)])

    def _case(self, op):
        """Each branch has one parameter: what it sees of the values around it."""
        branches, given = [], []
        for region in op.regions:
            seen = [(value, self.types[value]) for value in _free_values(region) if value in self.types]
            branches.append(self.writer.computation("region", region, seen, packs="captured"))
            types = _tuple_type([type for _, type in seen])
            given.append(self.line("tuple", types, f"tuple({self.operands([value for value, _ in seen])})"))
        index = self.names[op.operands[0]]
        text = f"conditional({', '.join([index, *given])}), branch_computations={{{', '.join(branches)}}}"
        if len(op.names) == 1 and "#" not in op.names[0]:
            return self.give(op, [self.line("conditional", op.types[0], text)])
        whole = self.line("conditional", _tuple_type(op.types), text)
        self.give(op, [self.line("get-tuple-element", type, f"get-tuple-element({whole}), index={k}") for k, type in enumerate(op.types)])

    def _while(self, op):
        condition, body = op.regions
        body = self.writer.computation("region", body, packs=True)
        condition = self.writer.computation("region", condition, packs="carried")
        whole = _tuple_type(op.types)
        start = self.line("tuple", whole, f"tuple({self.operands(op.operands)})")
        loop = self.line("while", whole, f"while({start}), condition={condition}, body={body}")
        self.give(op, [self.line("get-tuple-element", type, f"get-tuple-element({loop}), index={k}") for k, type in enumerate(op.types)])


def _tuple_type(types):
    return f"({', '.join(map(str, types))})"


def _free_values(block):
    """Values that a region sees and does not make."""
    made, free = set(block.arguments), {}
    for op in block.ops:
        inner = [value for region in op.regions if op.kind != "while" for value in _free_values(region)]
        free |= dict.fromkeys(value for value in [*op.operands, *inner] if value not in made)
        made.update(op.names)
    return list(free | dict.fromkeys(value for value in block.results if value not in made))


def translated(stablehlo):
    """The HLO text of a StableHLO module.

    Args:
      stablehlo: the text, as `Lowered.as_text()` gives it.
    Returns: a text: computations, the last of them the entry.
    Raises:
      NotImplementedError: for an operation without a form here, which it names.
    """
    name, functions = _Reader(stablehlo).module()
    writer, main = _Writer(functions), functions["main"]
    writer.computation("main", main, entry=True)
    types = _entry_results(writer.texts[-1])
    layout = f"({', '.join(map(str, main.types))})->{types}"
    return f"HloModule {name}, entry_computation_layout={{{layout}}}\n\n" + "\n".join(writer.texts) + "\n"


def _entry_results(text):
    """The type of the entry's root."""
    return re.search(r"ROOT \S+ = (\(.*?\)|\S+) [\w-]+\(", text)[1]
