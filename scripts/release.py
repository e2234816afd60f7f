"""What a release needs beside the tree: prepares a checkout for publishing, and says in which order the crates go.

    python scripts/release.py --order                   the crates, each after those that it needs
    python scripts/release.py --prepare URL [--root R]  writes into the checkout, not to be committed: where the repository is
                                                        hosted (URL), links of README.md that lead there, versions of the
                                                        crates among each other, and that they may be published

`docs/releasing.md` is the recipe.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Never published: the extension goes into wheels, the others are for developers.
PRIVATE = {"pullback-python", "pullback-testkit", "pullback-xtask", "xtask"}


def manifests(root):
    """The manifest of each crate that is published, by name."""
    read = {path: tomllib.loads(path.read_text()) for path in sorted(root.glob("crates/*/Cargo.toml"))}
    return {manifest["package"]["name"]: manifest for manifest in read.values() if manifest["package"]["name"] not in PRIVATE}


def needs(manifest):
    """What a crate is built of, also on some systems only; what only its tests need stays behind."""
    tables = [manifest, *manifest.get("target", {}).values()]
    return {name for table in tables for kind in ("dependencies", "build-dependencies") for name in table.get(kind, {})}


def order(root):
    """The crates, each after those that it needs."""
    left = {name: needs(manifest) for name, manifest in manifests(root).items()}
    done = []
    while left:
        ready = sorted(name for name, wanted in left.items() if not wanted & set(left))
        if not ready:
            sys.exit(f"these crates need each other: {', '.join(sorted(left))}")
        done += ready
        left = {name: wanted for name, wanted in left.items() if name not in ready}
    return done


def replaced(text, pattern, new):
    """The text with the one place that a pattern fits written anew."""
    text, count = re.subn(pattern, new, text, count=1, flags=re.MULTILINE)
    if count != 1:
        sys.exit(f"nothing fits {pattern}")
    return text


def prepare(root, url):
    """Writes the hosted address and the versions into a checkout."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from readme import absolute

    url = url.rstrip("/")
    cargo = root / "Cargo.toml"
    text = cargo.read_text()
    version = tomllib.loads(text)["workspace"]["package"]["version"]
    tag = f"v{version}"
    published = set(manifests(root))
    text = re.sub(
        r'^(pullback[\w-]*) = \{ path',
        lambda found: f'{found[1]} = {{ version = "={version}", path' if found[1] in published else found[0],
        text,
        flags=re.MULTILINE,
    )
    text = replaced(text, r"^publish = false$", f'publish = true\nrepository = "{url}"')
    cargo.write_text(text)
    for path in sorted(root.glob("crates/*/Cargo.toml")):
        manifest = path.read_text()
        is_private = tomllib.loads(manifest)["package"]["name"] in PRIVATE
        new = "publish = false" if is_private else "publish.workspace = true\nrepository.workspace = true"
        path.write_text(replaced(manifest, r"^publish(\.workspace = true| = false)$", new))
    page = root / "README.md"
    page.write_text(absolute(page.read_text(), f"{url}/blob/{tag}"))
    project = root / "pyproject.toml"
    urls = f'[project.urls]\nRepository = "{url}"\nChangelog = "{url}/blob/{tag}/CHANGELOG.md"\nIssues = "{url}/issues"\n'
    project.write_text(replaced(project.read_text(), r"^# `\[project\.urls\]`.*$", lambda _: urls))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--order", action="store_true")
    parser.add_argument("--prepare", metavar="URL")
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args()
    if options.prepare:
        prepare(options.root, options.prepare)
    elif options.order:
        print("\n".join(order(options.root)))
    else:
        parser.print_help()


if __name__ == "__main__":
    main()
