"""The report that people read: one page of HTML that needs nothing beside itself.

Everything that comes from a paper passes through autoescaping (text), the MathML filter (formulas) or
an XML serialiser (pictures). The style and the script are part of the page and named by their hashes
in its content security policy, which forbids every request and everything else that is executable.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import Any

from theoryverify.claims.results import Report
from theoryverify.report.commands import rerun
from theoryverify.report.text import clean

NAME = "index.html"


def page(report: Report) -> str:
    """The whole page. The derivations of the papers in the report are run again for it.

    Formulas that cannot be typeset are shown as text, each with a warning on the page.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    from theoryverify.report.evidence import enclosed, in_margin
    from theoryverify.report.html import marks, view
    from theoryverify.report.html.graph import anchor, link
    from theoryverify.report.html.plots import interval_plot

    style, script = _asset("style.css"), _asset("script.js")
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    papers = view.gather(report)
    names: dict[str, Any] = {
        "report": report,
        "papers": papers,
        "counts": view.summary_counts(report),
        "results": {claim.id: claim for claim in report.claims},
        "on_page": {claim.id for claim in report.claims}
        | {row.id for paper in papers for row in paper.unchecked},
        "style": Markup(style),
        "script": Markup(script),
        "policy": _policy(style, script),
        "verdict_mark": marks.VERDICTS,
        "rung_mark": marks.RUNGS,
        "meaning": marks.MEANINGS,
        "anchor": anchor,
        "link": link,
        "enclosed": enclosed,
        "in_margin": in_margin,
        "interval_plot": interval_plot,
        "refuted_controls": view.refuted_controls,
        "rerun": rerun,
    }
    return clean(environment.get_template("page.html.j2").render(names))


def _asset(name: str) -> str:
    return resources.files(__name__).joinpath("assets", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    def hashed(text: str) -> str:
        digest = hashlib.sha256(text.encode("utf-8")).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    return (
        f"default-src 'none'; style-src {hashed(style)}; script-src {hashed(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
