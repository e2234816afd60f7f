"""The debugger of `jax.debug.breakpoint`: frames of the user's code with the values that their variables have in the program.

Frames are those at tracing; arrays among their variables are given to a callback, so that each stop shows what they hold then.
"""

import cmd
import linecache
import os
import sys

from pullback import _core

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_AROUND = 4


class Frame:
    """A frame of the user's code.

    Attributes: `filename`, `lineno`, `name`, `values` (of all variables that are seen there).
    """

    def __init__(self, filename, lineno, name, values):
        self.filename, self.lineno, self.name, self.values = filename, lineno, name, values

    def source(self):
        """The lines around, with an arrow at the place."""
        lines = [f"> {self.filename}({self.lineno})"]
        for number in range(max(self.lineno - _AROUND, 1), self.lineno + _AROUND + 1):
            text = linecache.getline(self.filename, number).rstrip("\n")
            if text or number == self.lineno:
                lines.append(f"{'->' if number == self.lineno else '  '}  {text}")
        return "\n".join(lines)


def frames_here(num_frames, filter_frames):
    """The frames of the caller, the innermost first."""
    found, frame = [], sys._getframe(2)
    while frame is not None and (num_frames is None or len(found) < num_frames):
        name = frame.f_code.co_filename
        if not (filter_frames and os.path.abspath(name).startswith(_HERE)) and not name.startswith("<frozen"):
            globals_seen = {k: v for k, v in frame.f_globals.items() if k in frame.f_code.co_names} if frame.f_globals is not frame.f_locals else {}
            found.append(Frame(name, frame.f_lineno, frame.f_code.co_name, {**globals_seen, **frame.f_locals}))
        frame = frame.f_back
    return found


def _usable(value):
    """Whether a tracer may be read here: one whose trace is over cannot."""
    try:
        _core.typeof(value)
        return bool(value.shape == value.shape)
    except Exception:
        return False


def split(frames):
    """The arrays among the variables, in one list, and a function from their values to frames."""
    from pullback import tree_util

    arrays, places = [], []
    for frame in frames:
        for name, value in frame.values.items():
            try:
                leaves, tree = tree_util.tree_flatten(value)
            except Exception:
                continue
            if leaves and any(isinstance(leaf, _core.Tracer) for leaf in leaves) and all(_usable(leaf) for leaf in leaves if isinstance(leaf, _core.Tracer)):
                kept = [leaf for leaf in leaves if isinstance(leaf, _core.Tracer)]
                places.append((frame, name, tree, [None if isinstance(leaf, _core.Tracer) else leaf for leaf in leaves], len(kept)))
                arrays += kept
    return arrays, lambda values: _filled(frames, places, values)


def _filled(frames, places, values):
    values = iter(values)
    made = {id(frame): dict(frame.values) for frame in frames}
    for frame, name, tree, leaves, _ in places:
        made[id(frame)][name] = tree.unflatten([next(values) if leaf is None else leaf for leaf in leaves])
    return [Frame(frame.filename, frame.lineno, frame.name, made[id(frame)]) for frame in frames]


class Debugger(cmd.Cmd):
    """Commands at a stop: `p` and `pp` print an expression, `u` and `d` change the frame, `l` lists, `w` shows all frames, `c` goes on."""

    prompt = "(jdb) "

    def __init__(self, frames, stdin=None, stdout=None):
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self.frames, self.at = frames, 0

    def say(self, text):
        """Writes a line."""
        print(text, file=self.stdout)

    @property
    def frame(self):
        """The frame that is looked at."""
        return self.frames[self.at]

    def _evaluate(self, text):
        # The user's own words at the user's own prompt, as in Python's debugger.
        return eval(text, {**self.frame.values}, {})  # noqa: S307

    def _print(self, text, show):
        try:
            self.say(show(self._evaluate(text)))
        except Exception as error:
            self.say(f"*** {type(error).__name__}: {error}")

    def do_p(self, text):
        """p expression: prints its value."""
        self._print(text, repr)

    def do_pp(self, text):
        """pp expression: prints its value over lines."""
        import pprint

        self._print(text, pprint.pformat)

    def default(self, line):
        if line == "EOF":
            return True
        return self.do_p(line)

    def emptyline(self):
        pass

    def _move(self, to, end):
        if not 0 <= to < len(self.frames):
            self.say(f"*** At {end} frame.")
            return
        self.at = to
        self.say(self.frame.source())

    def do_up(self, _):
        """u: the frame that called this one."""
        self._move(self.at + 1, "topmost")

    def do_down(self, _):
        """d: the frame that this one called."""
        self._move(self.at - 1, "bottommost")

    def do_list(self, _):
        """l: the lines around."""
        self.say(self.frame.source())

    def do_where(self, _):
        """w, bt: all frames."""
        self.say("Traceback:")
        for frame in reversed(self.frames):
            self.say(f'  File "{frame.filename}", line {frame.lineno}\n    {linecache.getline(frame.filename, frame.lineno).strip()}')

    def do_continue(self, _):
        """c: goes on with the program."""
        return True

    def do_quit(self, _):
        """q: ends the program."""
        sys.exit(0)

    do_u, do_d, do_l, do_w, do_bt, do_c, do_q = do_up, do_down, do_list, do_where, do_where, do_continue, do_quit
    do_cont = do_continue


def stop(frames, stdin=None, stdout=None):
    """Stops at frames until the user goes on."""
    debugger = Debugger(frames, stdin, stdout)
    debugger.say("Entering jdb:")
    debugger.cmdloop()
