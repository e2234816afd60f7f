"""Programs that need no Python: the text of a jaxpr, in which numbers may be expressions of dimension variables.

A program of known shapes is its jaxpr. One over symbolic shapes is a template: pieces of text with expressions between
them, found by tracing at several sizes (`worlds`). For given sizes the text is filled in and read.
"""

import re

from pullback import _core
from pullback._core import user_error as _user_error
from pullback._export import dims

# What ends a number: a name, a type or another number is none.
NUMBER = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.])")
_CUSTOM = re.compile(r"(?:custom_jvp_call|custom_vjp_call|custom_lin)\[")
# What begins a line and is no equation: the operands go on.
_OPERAND = re.compile(r"[a-z]+(?=\s)(?!\s*=)|[-\d(]|(?:inf|nan|True|False):")
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_DEEPEST = 200


def _end_of(text, start):
    """The position after the bracket that closes the one at `start`."""
    stack = []
    for at in range(start, len(text)):
        sign = text[at]
        if sign in _CLOSING:
            stack.append(_CLOSING[sign])
        elif stack and sign == stack[-1]:
            stack.pop()
            if not stack:
                return at + 1
    raise _user_error(ValueError, "the text of a program ends within brackets")


def _without_custom_rules(text):
    """The text in which functions with derivative rules of their own are plain functions: rules are Python's."""
    while found := _CUSTOM.search(text):
        opening = found.end() - 1
        end = _end_of(text, opening)
        at = text.index("call_jaxpr=", opening) + len("call_jaxpr=")
        called = text[at : _end_of(text, at)] if text[at] == "{" else re.compile(r"\w+").match(text, at).group()
        operands = re.compile(r"[^\n;]*?(?=\n|;| in \(|$)").match(text, end).group().split()
        donated = "".join("False," for _ in operands)
        call = f"jit[name=custom donated_invars=({donated}) inline=False jaxpr={called} keep_unused=False]"
        text = text[: found.start()] + call + text[end:]
    return text


def _blocks(text):
    """The shared functions that a text begins with, and the rest."""
    blocks = {}
    while found := re.compile(r"\s*let (\w+) = ").match(text):
        end = _end_of(text, found.end())
        blocks[found.group(1)] = text[found.end() : end]
        text = re.compile(r"\s*in\b").sub("", text[end:], count=1)
    return blocks, text


def _renamed(text, names):
    """References to shared functions under names that nothing else has."""
    if not names:
        return text
    known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    fields = re.compile(rf"(?<!\bname)=({known})(?=[\s\]])")
    text = fields.sub(lambda found: f"={names[found.group(1)]}", text)
    return re.sub(r"(?<=branches=)\(([^{}()]*)\)", lambda found: "(" + re.sub(rf"\b({known})\b", lambda one: names[one.group(1)], found.group(1)) + ")", text)


def _ordered(blocks):
    """Shared functions, each after those that it calls."""
    done = {}

    def visit(name):
        if name not in done:
            for other in re.findall(r"\bshared__\d+\b", blocks[name]):
                visit(other)
            done[name] = blocks[name]

    for name in blocks:
        visit(name)
    return done


def _one_layout(text):
    """The text with an equation on each line and parameters on one, whatever the width that it was laid out for."""
    parts, stack, at = [], [], 0
    for found in re.finditer(r"[\[({})\]]|\s+|(?<!lambda );\s*", text):
        parts.append(text[at : found.start()])
        sign, at = found.group(), found.end()
        if sign in _CLOSING:
            stack.append(sign)
        elif sign in "}])":
            stack.pop()
        elif stack and stack[-1] != "{":
            sign = " "
        else:
            sign = "\n" if sign[0] == ";" or "\n" in sign and not _OPERAND.match(text, at) else " "
        parts.append(sign)
    text = "".join([*parts, text[at:]])
    for pattern, plain in ((r"\[ ", "["), (r" (?=\])", ""), (r"\blet\s+", "let "), (r"\s+in \(", " in ("), (r"\) in\n", ") in\n")):
        text = re.sub(pattern, plain, text)
    return text


def plain_text(text):
    """The full text of a jaxpr so that it reads back: without rules, and shared functions before their use."""
    text = _without_custom_rules(text)
    blocks, rest = _blocks(text)
    names = {name: f"shared__{k}" for k, name in enumerate(blocks)}
    blocks = _ordered({names[name]: _renamed(block, names) for name, block in blocks.items()})
    return _one_layout("".join(f"let {name} = {block} in\n" for name, block in blocks.items()) + _renamed(rest, names))


def text_of(jaxpr):
    """The text of a jaxpr without consts; NotImplementedError where it calls back into Python."""
    text = plain_text(jaxpr._full_text())
    for name in ("pure_callback", "io_callback", "debug_callback", "debug_print"):
        if re.search(rf"= {name}\[|^\s*{name}\[", text, re.MULTILINE):
            raise _user_error(NotImplementedError, f"serialization of host_callbacks is not yet implemented: the program contains `{name}`")
    return text


def read(text):
    """The jaxpr of a text; ValueError where it is none."""
    depth = deepest = 0
    for sign in text:
        depth += (sign in "{[(") - (sign in "}])")
        deepest = max(deepest, depth)
    if deepest > _DEEPEST:
        raise _user_error(ValueError, f"the text of a program nests {deepest} brackets; at most {_DEEPEST} are read")
    try:
        return _core.jaxpr_from_text(text)
    except Exception as error:
        raise _user_error(ValueError, f"the exported program cannot be read: {str(error).splitlines()[0]}") from error


class Program:
    """A function of dimension values, constants and flat arguments that gives flat results.

    Attributes:
      names: the dimension variables, whose values are the first inputs.
      pieces, expressions: the text, and what is filled in between.
      consts: arrays.
    """

    def __init__(self, names, pieces, expressions, consts, jaxpr=None):
        self.names, self.consts = tuple(names), list(consts)
        self._pieces, self._expressions, self._jaxpr, self._made = pieces, expressions, jaxpr, {}

    @property
    def pieces(self):
        """The pieces of text."""
        if self._pieces is None:
            self._pieces, self._expressions = [text_of(self._jaxpr)], []
        return self._pieces

    @property
    def expressions(self):
        """What is filled in between the pieces: for each the expression and whether it is a real number."""
        return self.pieces and self._expressions

    def text(self, env):
        """The text for values of the variables."""
        parts = [self.pieces[0]]
        for (value, is_real), piece in zip(self.expressions, self.pieces[1:]):
            size = dims.evaluate(value, env)
            parts += [f"{float(size)!r}" if is_real else str(size), piece]
        return "".join(parts)

    def jaxpr(self, env):
        """The jaxpr for values of the variables; it is kept."""
        if self._jaxpr is not None:
            return self._jaxpr
        key = tuple(env[name] for name in self.names)
        if key not in self._made:
            self._made[key] = read(self.text(env))
        return self._made[key]

    def run(self, env, args):
        """The results, as a list."""
        import numpy as np

        sizes = [np.int32(env[name]) for name in self.names]
        return _core.eval_jaxpr(self.jaxpr(env), [], [*self.consts, *sizes, *args])
