"""Draw the small pictures of README.md again: `python figures/gallery.py [NAME ...]`."""

import sys
from pathlib import Path

from theoryverify.figures import Plan
from theoryverify.figures.catalogue import selected
from theoryverify.figures.render import drawn, picture
from theoryverify.files import writable_folder, write_bytes

DPI = 110


def main(names: list[str]) -> None:
    folder = writable_folder(Path(__file__).parent / "gallery")
    for figure in selected(names, everything=not names):
        canvas = drawn(figure, figure.data(Plan("quick")))
        write_bytes(folder / f"{figure.name}.png", picture(canvas, "png", DPI))


if __name__ == "__main__":
    main(sys.argv[1:])
