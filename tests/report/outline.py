"""A page as the standard library's parser sees it: elements, ids, links, text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "input", "hr", "rect", "path", "circle", "base", "embed"}


@dataclass
class Element:
    tag: str
    attrs: dict[str, str]
    parents: tuple[str, ...]
    text: str = ""


@dataclass
class Outline(HTMLParser):
    """Feed it a page; ``problems`` says where elements do not nest."""

    elements: list[Element] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []

    @classmethod
    def of(cls, page: str) -> Outline:
        outline = cls()
        outline.feed(page)
        outline.close()
        outline.problems += [f"<{item.tag}> is not closed" for item in outline._open]
        return outline

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = Element(tag, {k: v or "" for k, v in attrs}, tuple(item.tag for item in self._open))
        self.elements.append(found)
        if tag not in VOID:
            self._open.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = Element(tag, {k: v or "" for k, v in attrs}, tuple(item.tag for item in self._open))
        self.elements.append(found)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self._open or self._open[-1].tag != tag:
            self.problems.append(f"</{tag}> at {self.getpos()} closes nothing")
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        for item in self._open:
            item.text += data

    def all(self, tag: str, name: str = "") -> list[Element]:
        """Elements of a tag, and of a class if one is named."""
        return [
            item
            for item in self.elements
            if item.tag == tag and (not name or name in item.attrs.get("class", "").split())
        ]

    @property
    def ids(self) -> list[str]:
        return [item.attrs["id"] for item in self.elements if "id" in item.attrs]
