"""Reports on disk, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from theoryverify.claims.results import FORMAT, Report
from theoryverify.errors import InputError

_MAX_BYTES = 100_000_000


def read_report(path: Path) -> Report:
    """The report in a file that ``theoryverify check --report`` wrote.

    Raises
    ------
    InputError
        If the file is missing, too large, no report, of another format version, or not whole.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path} is too large to be a report")
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # no JSON, or no UTF-8
        raise InputError(f"{path} is not a JSON report") from error
    if not isinstance(document, dict) or "format" not in document:
        raise InputError(f"{path} is not a report: it has no 'format'")
    if document["format"] != FORMAT:
        raise InputError(
            f"{path} is a report of format {document['format']!r}; this version reads format "
            f"{FORMAT}: make it again with `theoryverify check --report DIR`"
        )
    try:
        report = Report.from_json(document)
    except KeyError as error:
        raise InputError(f"{path} is not a whole report: {error} is missing") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is not a whole report: {error}") from error
    _require_types(path, document)
    return report


def _require_types(path: Path, document: dict[str, Any]) -> None:
    """Texts must be texts and times numbers; the enumerations were checked on reading."""

    def need(value: Any, kind: type | tuple[type, ...], what: str) -> None:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InputError(f"{path} is not a whole report: {what} is {value!r}")

    need(document["seed"], int, "its seed")
    need(document["preset"], str, "its preset")
    for name, value in document.get("parameters", {}).items():
        need(value, str, f"the parameter {name}")
    for name, version in document["versions"].items():
        need(version, str, f"the version of {name}")
    seen = set()
    for claim in document["claims"]:
        for key in ("id", "paper", "title", "place", "statement", "reason"):
            need(claim[key], str, f"the {key} of a claim")
        if claim["id"] in seen:
            raise InputError(f"{path} is not a whole report: two claims have the id {claim['id']}")
        seen.add(claim["id"])
        texts = [*claim["assumes"], *claim.get("depends_on", ()), claim.get("note", "")]
        texts += [h[key] for h in claim.get("hypotheses", ()) for key in ("name", "statement")]
        for check in claim["checks"]:
            need(check["seconds"], (int, float), f"the time of {claim['id']}/{check['name']}")
            texts += [check["name"], check["scope"], check["reason"], *check["assumes"]]
            texts += [step[key] for step in check["steps"] for key in ("name", "shown")]
            texts += [c[key] for c in check["controls"] for key in ("name", "reason")]
            mutants = check["mutants"]
            need(mutants["tried"], int, "a count of mutants")
            need(mutants["killed"], int, "a count of mutants")
            texts += mutants["survived"]
        for text in texts:
            need(text, str, f"a text of {claim['id']}")
