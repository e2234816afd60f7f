"""`pullback.help`: what an error means and what to do about it, in the terminal; the pages are also chapters of the book."""

import os as _os

_FOLDER = _os.path.dirname(_os.path.abspath(__file__))


def pages():
    """The names of all pages: classes of errors, and topics that texts of errors refer to."""
    return sorted(name.removesuffix(".md") for name in _os.listdir(_FOLDER) if name.endswith(".md"))


def page(name):
    """The text of a page, as Markdown."""
    with open(_os.path.join(_FOLDER, f"{name}.md"), encoding="utf-8") as file:
        return file.read()


def _page_of(subject):
    """The name of the page for an exception, a class of exceptions or a name; None when there is none."""
    if isinstance(subject, str):
        by_name = {name.lower(): name for name in pages()}
        return by_name.get(subject.strip().lower().replace(" ", "_").rpartition(".")[2])
    class_ = type(subject) if isinstance(subject, BaseException) else subject
    if isinstance(class_, type) and issubclass(class_, BaseException):
        known = set(pages())
        return next((base.__name__ for base in class_.__mro__ if base.__name__ in known), None)
    return None


def _plain(text):
    """Markdown as a terminal shows it: code blocks indented, headings and emphasis as they are read."""
    lines, is_code = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            is_code = not is_code
        elif is_code:
            lines.append(f"    {line}".rstrip())
        elif line.startswith("#"):
            title = line.lstrip("#").strip().replace("`", "")
            lines += [title, ("=" if line.startswith("# ") else "-") * len(title)]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def help(subject=None):
    """Shows what an error means, what causes it and how to write the program instead.

    Args:
      subject: an exception, its class or its name, or a topic that the text of an error names; by default the last
        exception that reached the prompt. Anything else goes to Python's `help`.
    Returns: None; the page is printed, page by page in a terminal.
    Raises:
      ValueError: a name without a page, or no exception to be explained.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.help("TracerBoolConversionError")  # doctest: +ELLIPSIS
      TracerBoolConversionError
      =========================
      ...
    """
    import pydoc
    import sys

    from pullback._core import user_error

    if subject is None:
        subject = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if subject is None:
            raise user_error(ValueError, f"help: there is no last exception; name one of the pages {', '.join(pages())}")
    name = _page_of(subject)
    if name is None and isinstance(subject, str):
        raise user_error(ValueError, f"help: there is no page {subject!r}; the pages are {', '.join(pages())}")
    if name is None and isinstance(subject, BaseException):
        raise user_error(ValueError, f"help: {type(subject).__name__} is not an error of Pullback's; the pages are {', '.join(pages())}")
    if name is None:
        return pydoc.help(subject)
    pydoc.pager(_plain(page(name)))
