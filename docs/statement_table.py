"""Write the table of statements into README.md, between its two markers.

Run as ``python docs/statement_table.py``; a test checks that the README is up to date.
"""

from __future__ import annotations

from pathlib import Path

from theoryverify.claims.discovery import papers
from theoryverify.claims.listing import listing

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- statements -->", "<!-- end of statements -->"


def table() -> str:
    """One table a paper: id, statement, place, and the rungs of its checks or why there are none."""
    parts = []
    for paper in papers().values():
        rows = listing([paper.name], {})
        covered = sum(row["coverage"] == "covered" for row in rows)
        parts.append(
            f"**`{paper.name}`**: *{paper.title}* ({paper.source}). "
            f"{covered} of {len(rows)} statements are covered.\n"
        )
        parts.append("| claim | statement | place | checks |\n| --- | --- | --- | --- |")
        for row in rows:
            place = row["source"].removeprefix(f"{paper.source}, ")
            state = ", ".join(row["rungs"]) or f"not checked: {row['reason']}"
            if row["expected"] != "holds":
                state += f" (expected: {row['expected']})"
            cells = (f"`{row['id']}`", row["title"], place, state)
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts.append("")
    return "\n".join(parts)


def updated(text: str) -> str:
    """The README's text with the table of this moment."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(updated(README.read_text("utf-8")), encoding="utf-8")
