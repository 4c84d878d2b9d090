"""Each narrated script runs from any folder, asserts its steps, and opens as a notebook."""

import subprocess
import sys
from pathlib import Path

import pytest

from theoryverify.claims.discovery import papers

SCRIPTS = sorted((Path(__file__).parents[1] / "derivations").glob("*.py"))


@pytest.mark.parametrize("paper", ["lca", "mamba", "zfb"])
def test_every_derivation_has_its_script(paper: str) -> None:
    scripts = {script.stem for script in SCRIPTS}
    listed = [derivation.name for derivation in papers()[paper].load("derivations")]
    assert [name for name in listed if not {name, f"{paper}_{name}"} & scripts] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script(script: Path, tmp_path: Path) -> None:
    text = script.read_text("utf-8")
    assert text.startswith("# %% [markdown]\n# # ")
    assert text.count("# %%") >= 4
    assert "assert_" in text
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
