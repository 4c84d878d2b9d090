"""From a figure to the bytes of its files: PNG, PDF, one CSV a table, and the caption.

The same plan gives the same bytes: no dates, no names of software, a fixed salt for identifiers.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from theoryverify.errors import InputError
from theoryverify.figures.figure import Data, Figure, Plan
from theoryverify.figures.style import STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

DPI = 200


def require_installed(figures: Sequence[Figure]) -> None:
    """Fail early, before hours of computing.

    Raises
    ------
    InputError
        If matplotlib, or what a figure needs beside it, is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise InputError(
            f'figures need matplotlib ({error}): pip install "theoryverify[figures]"'
        ) from error
    for figure in figures:
        for module in figure.needs:
            if find_spec(module) is None:
                raise InputError(
                    f"figure {figure.name} needs {module}, which is not installed: "
                    'pip install "theoryverify[simulate,figures]"'
                )


def drawn(figure: Figure, data: Data) -> Canvas:
    """The matplotlib figure, drawn in the style sheet; no window, no pyplot."""
    require_installed(())
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(_settings()):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        figure.draw(canvas, data.tables)
        canvas.draw_without_rendering()
    return canvas


def render(figure: Figure, data: Data, plan: Plan) -> dict[str, bytes]:
    """All files of a figure, by name.

    Parameters
    ----------
    figure : Figure
    data : Data
        What ``figure.data(plan)`` gave.
    plan : Plan
        For the caption.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    canvas = drawn(figure, data)
    files = {
        f"{figure.name}.png": picture(canvas, "png"),
        f"{figure.name}.pdf": picture(canvas, "pdf"),
    }
    for name, table in table_files(figure, data).items():
        files[name] = data.tables[table].csv().encode()
    for ending, text in data.texts.items():
        files[f"{figure.name}.{ending}"] = text.encode()
    files[f"{figure.name}.txt"] = caption(figure, data, plan).encode()
    return files


def picture(canvas: Canvas, kind: str, dpi: int = DPI) -> bytes:
    """The bytes of a PNG or a PDF."""
    import matplotlib as mpl

    metadata = (
        {"Software": None}
        if kind == "png"
        else {"CreationDate": None, "Producer": None, "Creator": None}
    )
    target = io.BytesIO()
    with mpl.rc_context(_settings()):
        canvas.savefig(target, format=kind, dpi=dpi, metadata=metadata)
    return target.getvalue()


def table_files(figure: Figure, data: Data) -> dict[str, str]:
    """File names of the tables: ``NAME.csv`` for a single one, else ``NAME.TABLE.csv``."""
    if len(data.tables) == 1:
        return {f"{figure.name}.csv": table for table in data.tables}
    return {f"{figure.name}.{table}.csv": table for table in data.tables}


def caption(figure: Figure, data: Data, plan: Plan) -> str:
    """Title, caption, how it was computed, the preset, and what the CSV files hold."""
    parts = [
        figure.title,
        figure.caption,
        f"How it was computed: {data.setup}",
        f"Preset: {plan.preset}. Seed of what is simulated: {plan.seed}.",
    ]
    lines = [textwrap.fill(" ".join(part.split()), 100) for part in parts]
    lines.append(
        "\n".join(
            textwrap.fill(
                f"{name}: {len(data.tables[table].rows)} rows of "
                f"{', '.join(data.tables[table].columns)}",
                100,
                subsequent_indent="    ",
            )
            for name, table in table_files(figure, data).items()
        )
    )
    return "\n\n".join(lines) + "\n"


def _settings() -> dict[Any, Any]:
    """matplotlib's own defaults under the style sheet, so that a user's settings do not leak in."""
    import matplotlib as mpl

    defaults = {k: v for k, v in mpl.rcParamsDefault.items() if not k.startswith("backend")}
    return defaults | STYLE
