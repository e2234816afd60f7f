"""``python -m pullback prog.py args...``: runs a program with `import jax` meaning Pullback."""

import runpy
import sys


def main():
    """Runs the program named first on the command line; ``-m module`` and ``-c code`` work as for Python itself."""
    from pullback._alias import install_as_jax

    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write("usage: python -m pullback (prog.py | -m module | -c code) [args...]\n")
        return 0 if arguments else 2
    install_as_jax()
    if arguments[0] in ("-m", "-c"):
        if len(arguments) < 2:
            sys.stderr.write(f"argument expected for the {arguments[0]} option\n")
            return 2
        sys.argv = ["-c" if arguments[0] == "-c" else arguments[1], *arguments[2:]]
        sys.path.insert(0, "")
        if arguments[0] == "-c":
            exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    import os

    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
