"""The files that a run leaves: which options ask for them, and writing them.

Where they go is tried before the run, so that an hour's work is not lost to a misspelt folder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theoryverify.errors import InputError

if TYPE_CHECKING:
    from theoryverify.claims.ladder import Rung
    from theoryverify.claims.results import Report
    from theoryverify.report.compare import Change


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--report``, ``--html``, ``--junit``, ``--summary``, ``--badge``, ``--since``."""
    parser.add_argument(
        "--report", metavar="DIR", help="write report.json and junit.xml into this folder"
    )
    parser.add_argument("--html", metavar="DIR", help="write the report page, DIR/index.html")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML to this file")
    parser.add_argument(
        "--summary",
        metavar="FILE",
        help="write a Markdown summary to this file, and append it to $GITHUB_STEP_SUMMARY if set",
    )
    parser.add_argument("--badge", metavar="FILE", help="write a badge (shields.io endpoint JSON)")
    parser.add_argument(
        "--since",
        metavar="REPORT.json",
        help="say what changed since this report; a verdict or rung lost: exit 1",
    )


@dataclass(frozen=True)
class Outputs:
    """Where each file goes, known to be writable; and the earlier report."""

    report: Path | None = None
    html: Path | None = None
    junit: Path | None = None
    summary: Path | None = None
    badge: Path | None = None
    since: Path | None = None
    earlier: Report | None = None

    @classmethod
    def prepare(
        cls,
        args: argparse.Namespace,
        preset: str,
        rung: Rung | None,
        parameters: Mapping[str, str],
    ) -> Outputs:
        """From the options of :func:`add_options`.

        Raises
        ------
        InputError
            For a folder or file that cannot be written, and for an earlier report that cannot be
            read or compared.
        """
        from theoryverify.claims.stored import read_report
        from theoryverify.files import writable_folder
        from theoryverify.report.compare import require_comparable

        earlier = None
        if args.since:
            earlier = read_report(Path(args.since))
            require_comparable(earlier, preset, rung, parameters)
        return cls(
            report=writable_folder(Path(args.report)) if args.report else None,
            html=writable_folder(Path(args.html)) if args.html else None,
            junit=writable_file(args.junit) if args.junit else None,
            summary=writable_file(args.summary) if args.summary else None,
            badge=writable_file(args.badge) if args.badge else None,
            since=Path(args.since) if args.since else None,
            earlier=earlier,
        )

    def conclude(
        self, report: Report, document: dict[str, Any], *, quiet: bool, note: str = ""
    ) -> int:
        """Write the files; show the verdicts, ``note`` and what changed unless ``quiet``.

        Returns
        -------
        int
            The exit code: the report's, or 1 if something was lost and no check broke.
        """
        from theoryverify.report.compare import changes_text, lost
        from theoryverify.report.terminal import console, show_report

        paths, found = self.write(report, document)
        if not quiet:
            show_report(report, console())
            print(note, end="")
            if self.since is not None:
                print(changes_text(found, str(self.since)))
            if paths:
                print("report: " + ", ".join(map(str, paths)))
        return 1 if lost(found) and report.exit_code != 4 else report.exit_code

    def write(self, report: Report, document: dict[str, Any]) -> tuple[list[Path], list[Change]]:
        """Write everything that was asked for.

        Parameters
        ----------
        report : Report
        document : dict
            ``report.to_json()``; gets a key ``since`` if an earlier report is compared with.

        Returns
        -------
        paths : list of Path
        changes : list of Change
            Since the earlier report; empty without one.
        """
        from theoryverify.files import write_text
        from theoryverify.report.badge import badge
        from theoryverify.report.compare import changes
        from theoryverify.report.junit import junit
        from theoryverify.report.summary import markdown

        found: list[Change] = []
        if self.earlier is not None:
            found = changes(self.earlier, report, _gone(self.earlier, report))
            document["since"] = [change.to_json() for change in found]
        files: dict[Path, str] = {}
        if self.report is not None:
            text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
            files[self.report / "report.json"] = text
            files[self.report / "junit.xml"] = junit(report)
        if self.junit is not None:
            files[self.junit] = junit(report)
        if self.badge is not None:
            files[self.badge] = json.dumps(badge(report), indent=1, ensure_ascii=False) + "\n"
        if self.summary is not None:
            text = markdown(report, None if self.earlier is None else found)
            files[self.summary] = text
            _append_to_step_summary(text)
        for path, text in files.items():
            write_text(path, text)
        if self.html is not None:  # last, since it is the one that takes a moment
            from theoryverify.report.html import NAME, page

            path = self.html / NAME
            write_text(path, page(report))
            files[path] = ""
        return list(files), found


def writable_file(name: str) -> Path:
    """The path, in a folder that is made if need be and takes files.

    Raises
    ------
    InputError
        If it is a folder, or its folder cannot be written to.
    """
    from theoryverify.files import writable_folder

    path = Path(name)
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    writable_folder(path.parent)
    return path


def _gone(old: Report, new: Report) -> frozenset[str]:
    """Claims of the old report that exist no more, in papers that the new run covers."""
    from theoryverify.claims.discovery import papers
    from theoryverify.claims.registry import own_claims

    covered = {claim.paper for claim in new.claims} & set(papers())
    existing = {name for paper in covered for name in own_claims(papers()[paper])}
    return frozenset(c.id for c in old.claims if c.paper in covered and c.id not in existing)


def _append_to_step_summary(text: str) -> None:
    """GitHub's file for this step; trouble with it is said and breaks nothing."""
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    try:
        with open(name, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print(f"theoryverify: $GITHUB_STEP_SUMMARY: {error.strerror}", file=sys.stderr)
