"""``theoryverify data``: prepare the paired digits of Table 1."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from theoryverify.claims.paper import Command, Outcome
from theoryverify.data import DEFAULT, VARIABLE
from theoryverify.errors import InputError
from theoryverify.verbs.options import seed_number


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        f"`theoryverify figure lca.table1` takes the file that the variable {VARIABLE} names, else "
        f"{DEFAULT}, if it is there."
    )
    parser.add_argument("action", choices=("prepare", "show"), metavar="prepare|show")
    parser.add_argument(
        "--mnist", metavar="PATH", help="IDX folder, .npz or .pkl.gz (scikit-learn's digits)"
    )
    parser.add_argument("--fsdd", metavar="DIR", help="folder of WAV files (synthesised speech)")
    parser.add_argument("--out", default=DEFAULT, metavar="FILE", help=DEFAULT)
    parser.add_argument(
        "--split",
        choices=("official", "speaker"),
        default="official",
        help="of clips: by index, or by speaker, one for the test and one for validation (official)",
    )
    parser.add_argument("--most", metavar="N", help="at most so many training images (all)")
    parser.add_argument("--seed", default="0", metavar="N")


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.data import prepared
    from theoryverify.data.avmnist import SPLITS, pair
    from theoryverify.data.embedded import embedded_digits
    from theoryverify.data.fsdd import load_fsdd
    from theoryverify.data.mnist import load_mnist
    from theoryverify.data.synthesis import synthesised
    from theoryverify.exact.rationals import positive_integer
    from theoryverify.files import writable_folder

    path = Path(args.out)
    if args.action == "show":
        pairs = prepared.load(path)
        checksum = prepared.digest(pairs)
    else:
        seed = seed_number(args.seed)
        most = None if args.most is None else positive_integer(args.most, "most", least=50)
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a folder")
        writable_folder(path.parent)
        digits = load_mnist(args.mnist) if args.mnist else embedded_digits(seed)
        clips = load_fsdd(args.fsdd) if args.fsdd else synthesised(seed)
        pairs = pair(digits, clips, split=args.split, most=most, seed=seed)
        checksum = prepared.save(pairs, path)
    counts = [int((pairs.split == part).sum()) for part in range(3)]
    document = {"file": str(path), "sha256": checksum, "about": pairs.about} | {
        "pairs": dict(zip(SPLITS, counts, strict=True))
    }
    lines = [
        f"{path}: {pairs.about['name']} pairs",
        f"images: {pairs.about['images']}; sounds: {pairs.about['sounds']}",
        ", ".join(f"{count} {name}" for name, count in zip(SPLITS, counts, strict=True))
        + f"; clips split by {pairs.about['clip split']} rule{_speakers(pairs.about)}",
    ]
    if args.action == "prepare":
        document["use"] = _use(path)
        lines.append(f"use it: {_use(path)}")
    lines.append(f"sha256 {checksum}")
    return Outcome(document, "\n".join(lines))


def _speakers(about: Mapping[str, object]) -> str:
    counts = about.get("speakers in splits")
    if not isinstance(counts, list):  # a file of an older version
        return ""
    return f" ({', '.join(map(str, counts))} speakers)"


def _use(path: Path) -> str:
    """The command that draws the figure of this file; the default file is found without being named."""
    command = "theoryverify figure lca.table1"
    if path == Path(DEFAULT) and VARIABLE not in os.environ:
        return command
    return f"{VARIABLE}={shlex.quote(str(path))} {command}"


COMMAND = Command("data", "prepare the paired digits of Table 1", _configure, _run)
