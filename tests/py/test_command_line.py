"""`python -m pullback`: it runs what Python runs, as Python shows it, and `jax` is Pullback in every process it starts.

Real JAX lies in the environment of these tests wherever it can be had, which is what must not be reached.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pullback

ROOT = Path(pullback.__file__).parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "RUST_BACKTRACE": "0"}
# What a process knows of `jax`: the file, the version, what is installed under the name, and the same of jaxlib.
ASK = (
    "import json, jax, jaxlib, importlib.metadata as m, importlib.util as u;"
    "print(json.dumps([jax.__file__, jax.__version__, m.version('jax'), u.find_spec('jax').name, jaxlib.__version__, m.version('jaxlib')]))"
)
ANSWER = [pullback.__file__, "0.12.0", "0.12.0", "jax", "0.12.0", "0.12.0"]


def run(*arguments, program=("-m", "pullback"), **options):
    options = {"capture_output": True, "text": True, "env": ENVIRONMENT, "timeout": 120, **options}
    return subprocess.run([sys.executable, *program, *map(str, arguments)], **options)


def file(folder, name, text):
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def test_help_and_version():
    shown = run("--help")
    assert shown.returncode == 0 and shown.stdout.startswith("usage: python -m pullback [program]") and shown.stdout == run("-h").stdout
    assert run("--version").stdout == f"Pullback {pullback.__version__} (as jax 0.12.0)\n"


@pytest.mark.parametrize("arguments, said", [
    (["-x"], "unknown option -x"),
    (["-m"], "argument expected for the -m option"),
    (["-c"], "argument expected for the -c option"),
    (["nowhere.py"], "can't open file"),
])  # fmt: skip
def test_a_wrong_command_line_is_an_error(arguments, said):
    done = run(*arguments)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


# For a way to run a program: what follows `python` alone, to be the same after `python -m pullback`.
PROGRAMS = {
    "a file": ["prog.py", "1", "-m"],
    "a file elsewhere": ["folder/inner.py"],
    "a folder": ["folder", "2"],
    "a zip file": ["archive.zip"],
    "a module": ["-m", "prog", "3"],
    "a module of a package": ["-m", "folder.inner"],
    "a text": ["-c", "import sys; print(sys.argv, __name__, sys.path[0] == '')", "4"],
    "an exit": ["-c", "import sys; sys.exit(5)"],
    "an exit with a text": ["-c", "import sys; sys.exit('enough')"],
    "an error": ["raises.py"],
    "an error in a module": ["-m", "raises"],
    "an error in a text": ["-c", "def f():\n  1 / 0\nf()"],
    "an error of syntax": ["syntax.py"],
    "an error in a hook": ["hooked.py"],
    "an interrupt": ["-c", "raise KeyboardInterrupt"],
    "a module that is not there": ["-m", "nowhere"],
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    (folder / "folder").mkdir()
    shows = "import sys\nprint(sys.argv, __name__, sys.path[0], __file__, __spec__ and __spec__.name, sys.modules['__main__'].__dict__ is globals())\n"
    for name in ("prog.py", "folder/inner.py", "folder/__main__.py"):
        file(folder, name, shows)
    file(folder, "raises.py", "def f(x):\n    raise ValueError(x)\n\ntry:\n    f(1)\nexcept ValueError:\n    f(2)\n")
    file(folder, "syntax.py", "def (\n")
    file(folder, "hooked.py", "import sys, traceback\nsys.excepthook = lambda c, e, t: print(c, e, len(traceback.extract_tb(t)), e.__traceback__ is t)\n1 / 0\n")
    import zipfile

    with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
        archive.writestr("__main__.py", shows)
    return folder


@pytest.mark.parametrize("way", PROGRAMS)
def test_a_program_runs_as_python_runs_it(way, programs):
    alone, under = (run(*PROGRAMS[way], program=program, cwd=programs) for program in ((), ("-m", "pullback")))
    assert (under.returncode, under.stdout) == (alone.returncode, alone.stdout)
    if way == "an error in a module":  # frames of Python's own are left out too
        assert "runpy" not in under.stderr and under.stderr.endswith("ValueError: 2\n")
    else:
        assert under.stderr == alone.stderr


def test_a_program_from_the_standard_input():
    program = "import jax, sys; print(jax.__version__, sys.argv)"
    assert run("-", "a", input=program).stdout == "0.12.0 ['-', 'a']\n"
    assert run(input=program).stdout == "0.12.0 ['']\n"


def test_exit_handlers_and_pickles_find_the_program(tmp_path):
    text = "import atexit, pickle\ndef f(): pass\natexit.register(lambda: print(pickle.loads(pickle.dumps(f)) is f))\n"
    assert run(file(tmp_path, "prog.py", text)).stdout == "True\n"


@pytest.mark.parametrize("options", [(), ("-S",), ("-P",)])
def test_a_process_of_this_interpreter_uses_pullback(options, tmp_path):
    # Not even a folder that is called `jax`, where the process starts, is taken for it.
    (tmp_path / "jax").mkdir()
    file(tmp_path / "jax", "__init__.py", "__version__ = 'another'")
    program = f"import subprocess, sys; subprocess.run([sys.executable, *{options!r}, '-c', {ASK!r}], cwd={str(tmp_path if options != ('-S',) else ROOT)!r})"
    done = run("-c", program)
    if options == ("-S",):  # without site-packages there is no NumPy, and the import of jaxlib alone has to say whose it is
        program = "import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', 'import jaxlib; print(jaxlib.__file__)'])"
        assert run("-c", program).stdout.strip() == str(ROOT / "pullback" / "_drop_in" / "jaxlib" / "__init__.py")
    else:
        assert json.loads(done.stdout) == ANSWER, done.stderr


def test_processes_of_multiprocessing_use_pullback(tmp_path):
    program = f"""\
    import multiprocessing, concurrent.futures
    def ask(_):
        import json, io, contextlib
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec({ASK!r}, {{}})
        return out.getvalue()
    if __name__ == "__main__":
        for method in ("spawn", "forkserver"):
            context = multiprocessing.get_context(method)
            with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
                print(pool.submit(ask, 0).result(), end="")
    """
    done = run(file(tmp_path, "prog.py", program))
    assert [json.loads(line) for line in done.stdout.splitlines()] == [ANSWER] * 2, done.stderr


def test_workers_of_pytest_use_pullback(tmp_path):
    pytest.importorskip("xdist")
    file(tmp_path, "test_where.py", f"import jax\ndef test_it():\n    assert jax.__file__ == {pullback.__file__!r}, jax.__file__\n")
    done = run("-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider", "test_where.py", cwd=tmp_path)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


def test_workers_of_joblib_use_pullback(tmp_path):
    pytest.importorskip("joblib")
    program = f"import joblib\ndef ask():\n    import jax\n    return jax.__file__\nprint(joblib.Parallel(2)([joblib.delayed(ask)()] * 2) == [{pullback.__file__!r}] * 2)"
    assert run(file(tmp_path, "prog.py", program)).stdout == "True\n"


def test_another_sitecustomize_is_read_too(tmp_path):
    file(tmp_path, "sitecustomize.py", "print('theirs')")
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import jax; print(jax.__version__)'])"
    done = run("-c", program, env={**ENVIRONMENT, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"})
    assert done.stdout.split() == ["theirs", "theirs", "0.12.0"], done.stderr


def test_a_process_that_needs_no_jax_imports_nothing():
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import sys; print([n for n in sys.modules if n.startswith((\"pullback\", \"jax\"))])'])"
    assert run("-c", program).stdout == "[]\n"


def test_a_process_alone_keeps_its_children():
    program = "import os, pullback; pullback.install_as_jax(children=False); import jax; print(jax.__version__, '_drop_in' in os.environ['PYTHONPATH'])"
    assert run("-c", program, program=()).stdout == "0.12.0 False\n"


def test_jax_cannot_be_replaced_when_it_is_loaded():
    program = "import sys, types; sys.modules['jax'] = types.ModuleType('jax'); import pullback; pullback.install_as_jax()"
    done = run("-c", program, program=())
    assert done.returncode == 1 and "jax is already imported in this process" in done.stderr


def test_submodules_need_no_import_of_their_own():
    names = ("interpreters.ad", "interpreters.mlir", "extend.core", "extend.core.primitives", "scipy.stats.norm", "experimental.sparse", "tree_util")
    program = f"import jax, jax.extend\nimport functools\nfor n in {names}: functools.reduce(getattr, n.split('.'), jax)\nprint('all')"
    done = run("-c", program)
    assert done.stdout == "all\n", done.stderr
