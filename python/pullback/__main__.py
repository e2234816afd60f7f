"""``python -m pullback prog.py args...``: runs a program with `import jax` meaning Pullback."""

import sys

USAGE = """\
usage: python -m pullback [program] [argument ...]

Runs a Python program in which `import jax` is Pullback, in it and in the processes that it starts.

program:
  FILE             a Python file, a folder or a zip file with a __main__.py
  -m MODULE        a module, as `python -m MODULE` runs it: `python -m pullback -m pytest tests`
  -c CODE          the text of a program
  -                a program from the standard input; without a terminal there, also when no program is named
  (none)           an interactive session

options:
  -h, --help       this text
  -V, --version    the versions of Pullback and of the JAX that it stands for

What comes after the program are its own arguments. `import pullback; pullback.install_as_jax()` does the same from
inside a process.
"""


def _fresh_main(**attributes):
    """A new module `__main__` in the place of this one: what a program defines is found there when it is pickled."""
    import builtins
    import types

    main = types.ModuleType("__main__")
    vars(main).update({"__builtins__": builtins, **attributes})
    sys.modules["__main__"] = main
    return vars(main)


def _search_first(folder):
    """Puts the program's folder where Python puts it: first, and nowhere if it was told to search in safe places only."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _run_file(path, arguments):
    import os

    sys.argv = [path, *arguments]
    if os.path.isdir(path) or not path.endswith((".py", ".pyw")) and _is_zip(path):
        import runpy

        _search_first(os.path.abspath(path))
        _fresh_main()
        runpy._run_module_as_main("__main__", alter_argv=False)
        return 0
    # A file's code knows it by its full name, as it does without Pullback.
    file = os.path.abspath(path)
    try:
        with open(file, "rb") as opened:
            text = opened.read()
    except OSError as error:
        sys.stderr.write(f"python -m pullback: can't open file {file!r}: [Errno {error.errno}] {error.strerror}\n")
        return 2
    from importlib.machinery import SourceFileLoader

    loader = SourceFileLoader("__main__", file)
    _search_first(os.path.dirname(os.path.realpath(path)))
    exec(compile(text, file, "exec", dont_inherit=True), _fresh_main(__file__=file, __cached__=None, __loader__=loader))
    return 0


def _is_zip(path):
    import zipfile

    return zipfile.is_zipfile(path)


def _run_module(name, arguments):
    import runpy

    # As Python itself has it: the folder where the program was started, with its full name.
    sys.argv = ["-m", *arguments]
    _fresh_main()
    # What `python -m` calls; `run_module` would take the module away again before threads and exit handlers are done.
    runpy._run_module_as_main(name)
    return 0


def _run_text(text, shown, arguments):
    import linecache

    sys.argv = [shown, *arguments]
    _search_first("")
    file = "<string>" if shown == "-c" else "<stdin>"
    # So that a traceback shows the lines.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec", dont_inherit=True), _fresh_main())
    return 0


def _converse():
    import code
    import platform

    sys.argv = [""]
    _search_first("")
    names = _fresh_main()
    try:
        import readline

        import rlcompleter
    except ImportError:
        pass  # a Python without them reads plain lines
    else:
        readline.set_completer(rlcompleter.Completer(names).complete)
        readline.parse_and_bind("tab: complete")
    banner = f"{_versions()}; Python {platform.python_version()} on {sys.platform}. `import jax` is Pullback."
    code.interact(banner=banner, local=names, exitmsg="")
    return 0


def _versions():
    from pullback import __version__
    from pullback._alias import JAX_VERSION

    return f"Pullback {__version__} (as jax {JAX_VERSION})"


def _is_ours(frame):
    """Whether a frame is of the way to the program, not of the program."""
    file = frame.f_code.co_filename
    return file == __file__ or file.startswith("<frozen ")


def _hide_the_way():
    """Has the exception that is being handled shown without the frames that lie above the program's first.

    An exception handler that the program has set is called with what is left of the traceback.
    """
    error = sys.exception()
    shown = error.__traceback__
    while shown is not None and _is_ours(shown.tb_frame):
        shown = shown.tb_next
    hook = sys.excepthook

    def show(class_, value, traceback):
        if value is not error:
            return hook(class_, value, traceback)
        return hook(class_, value.with_traceback(shown), shown)

    sys.excepthook = show


def _run(arguments):
    first, *rest = arguments
    if first in ("-m", "-c"):
        if not rest:
            sys.stderr.write(f"argument expected for the {first} option\n{USAGE.splitlines()[0]}\n")
            return 2
        return _run_module(*_split(rest)) if first == "-m" else _run_text(rest[0], "-c", rest[1:])
    if first in ("-", ""):
        return _run_text(sys.stdin.read(), first, rest)
    if first == "--":
        return _run_file(*_split(rest)) if rest else _converse()
    if first.startswith("-"):
        sys.stderr.write(f"unknown option {first}\n{USAGE.splitlines()[0]}\nTry `python -m pullback --help'.\n")
        return 2
    return _run_file(first, rest)


def _split(arguments):
    return arguments[0], arguments[1:]


def main():
    """Runs what the command line names; returns the status of the process."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0
    if arguments and arguments[0] in ("-V", "--version"):
        sys.stdout.write(_versions() + "\n")
        return 0
    from pullback._alias import install_as_jax

    install_as_jax()
    if not arguments and sys.stdin.isatty():
        return _converse()
    try:
        return _run(arguments or [""])
    except SystemExit:
        raise
    except BaseException:
        _hide_the_way()
        raise


if __name__ == "__main__":
    sys.exit(main())
