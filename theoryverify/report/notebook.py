"""A derivation as a Jupyter notebook (nbformat 4.5), whose cells decide the steps again."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from theoryverify.claims.derive import decided_steps
from theoryverify.claims.display import step_html, step_latex
from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.report.summary import escape


def notebook(derivation: Derivation) -> dict[str, Any]:
    """The notebook, with the formulas already shown as the outputs of its cells.

    Raises
    ------
    DerivationFailed
        At a step that does not hold: the steps are decided while it is made.
    """
    cells = [
        _markdown(
            "title",
            f"# {escape(derivation.title)}\n\nDerivation `{derivation.name}` of theoryverify "
            f"{version('theoryverify')}. A step with a ✓ was decided, not believed; running the "
            "cells decides it again.",
        ),
        _code(
            "load",
            1,
            "from theoryverify.claims.derive import derivation_named\n\n"
            f"steps = list(derivation_named({derivation.name!r}).steps())",
        ),
    ]
    count = 1
    for index, step in enumerate(decided_steps(derivation)):
        mark = "✓ " if step.holds else ""
        cells.append(_markdown(f"text-{index + 1}", f"**{index + 1}.** {mark}{escape(step.text)}"))
        if step.formula is not None:
            source = f"steps[{index}]"
            count += 1
            cells.append(_code(f"step-{index + 1}", count, source, _shown(step, count)))
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": _lines(text)}


def _code(
    name: str, count: int, source: str, output: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": count,
        "id": name,
        "metadata": {},
        "outputs": [output] if output else [],
        "source": _lines(source),
    }


def _shown(step: DerivationStep, count: int) -> dict[str, Any]:
    return {
        "output_type": "execute_result",
        "execution_count": count,
        "metadata": {},
        "data": {
            "text/html": _lines(step_html(step)),
            "text/latex": _lines(step_latex(step)),
            "text/plain": _lines(f"{step.text}: {step.formula}"),
        },
    }


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
