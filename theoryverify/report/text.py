"""Text that every format can carry."""

from __future__ import annotations

import re

_UNFIT = re.compile("[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Control characters and lone surrogates, which neither XML nor HTML nor UTF-8 admits, as ``?``."""
    return _UNFIT.sub("?", text)
