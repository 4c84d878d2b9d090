"""The store: what it keeps is what was computed, whatever happens to the files or the processes."""

from __future__ import annotations

import errno
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from theoryverify import files as writers
from theoryverify.errors import InputError
from theoryverify.simulate.code import fingerprint, source_file
from theoryverify.simulate.sealed import Damage
from theoryverify.simulate.store import Store, StoreWarning, _from_npy, _npy

CODE = ("theoryverify.memory",)
CONFIGURATION = {"law": "uniform(2,5)", "depth": 8, "rate": 0.1, "seed": 0}


def result() -> dict[str, np.ndarray]:
    return {
        "losses": np.linspace(0, 1, 7),
        "layers.0.weight": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        "count": np.array(3),
        "none": np.zeros((0, 4), dtype=np.int16),
        "names": np.array(["α", "long name"]),
        "spectrum": np.array([1 + 2j, np.nan]),
    }


def never() -> dict[str, np.ndarray]:
    raise AssertionError("this was stored")


def same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return list(one) == list(two) and all(
        one[n].dtype == two[n].dtype and np.array_equal(one[n], two[n], equal_nan=n == "spectrum")
        for n in one
    )


def folder_of(store: Store, configuration: dict[str, Any] | None = None) -> Path:
    key = store.key(configuration or CONFIGURATION, code=CODE)
    return store.root / key[:2] / key


# -- what is stored -----------------------------------------------------------------------------


def test_computes_once_and_returns_the_same(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    assert store.get(CONFIGURATION, code=CODE) is None
    first = store.compute(CONFIGURATION, result, code=CODE, about={"note": "x"})
    again = Store(store.root).compute(dict(reversed(CONFIGURATION.items())), never, code=CODE)
    assert same(first, result())
    assert same(again, result())
    (entry,) = store.entries()
    assert list(store.keys()) == [entry.key]
    assert entry.configuration == CONFIGURATION
    assert entry.about["note"] == "x"
    assert entry.about["numpy"] == np.__version__
    assert entry.about["seconds"] >= 0
    assert store.has(CONFIGURATION, code=CODE)
    store.remove(CONFIGURATION, code=CODE)
    assert not store.has(CONFIGURATION, code=CODE)
    assert list(store.keys()) == []
    store.remove(CONFIGURATION, code=CODE)


def test_any_other_configuration_is_another_key(tmp_path: Path) -> None:
    store = Store(tmp_path)
    others: list[dict[str, Any]] = [
        CONFIGURATION | {"seed": 1},
        CONFIGURATION | {"seed": 0.0},
        CONFIGURATION | {"seed": False},
        CONFIGURATION | {"seed": "0"},
        CONFIGURATION | {"rate": 0.1 + 2**-56},
        CONFIGURATION | {"more": None},
        {k: v for k, v in CONFIGURATION.items() if k != "seed"},
        {"all": CONFIGURATION},
        {"all": [CONFIGURATION]},
    ]
    keys = {store.key(c, code=CODE) for c in [CONFIGURATION, *others]}
    assert len(keys) == 1 + len(others)
    assert store.key({"a": (1, 2)}, code=CODE) == store.key({"a": [1, 2]}, code=CODE)
    assert store.key(CONFIGURATION, code=["theoryverify.simulate.prompts"]) not in keys


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_every_plain_configuration_comes_back(configuration: dict[str, Any]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        store.put(configuration, {"x": np.arange(2)}, code=CODE)
        assert store.get(configuration, code=CODE) is not None
        (entry,) = store.entries()
        assert entry.configuration == configuration


@pytest.mark.parametrize(
    ("configuration", "match"),
    [
        ({"x": float("nan")}, "configuration.x = nan"),
        ({"x": [1, {"y": np.float64(1)}]}, r"configuration.x\[1\].y = .*float64"),
        ({"x": {1: 2}}, "key 1"),
        ({"x": {1, 2}}, "is a set"),
        ({"x": 10**1001}, "1000 digits"),
        ([1], "must be a mapping"),
    ],
)
def test_configurations_that_cannot_be_told_apart(
    tmp_path: Path, configuration: Any, match: str
) -> None:
    with pytest.raises(InputError, match=match):
        Store(tmp_path).compute(configuration, never, code=CODE)


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"x": np.array([{}], dtype=object)}, "dtype object"),
        ({"x": np.zeros(2, dtype="i4,f8")}, "only truth values"),
        ({"x": np.array(["2020-01-01"], dtype="M8[D]")}, "datetime64"),
        ({"../x": np.zeros(2)}, "'../x'"),
        ({"": np.zeros(2)}, "''"),
    ],
)
def test_arrays_that_cannot_be_stored(tmp_path: Path, arrays: Any, match: str) -> None:
    store = Store(tmp_path)
    with pytest.raises(InputError, match=match):
        store.put(CONFIGURATION, arrays, code=CODE)
    assert list(store.keys()) == []


# -- code ---------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    """Write a package afresh and return the fingerprint of its module ``main``."""
    monkeypatch.syspath_prepend(tmp_path)
    base = tmp_path / "toys"
    base.mkdir()

    def build(**sources: str) -> dict[str, str]:
        for old in base.glob("*.py"):
            old.unlink()
        for name, source in {"__init__": "", **sources}.items():
            (base / f"{name}.py").write_text(textwrap.dedent(source))
        _forget()
        return fingerprint(["toys.main"])

    yield build
    _forget()


def _forget() -> None:
    from theoryverify.simulate import code

    for cached in (code._closure, code._examine, code.source_file):
        cached.cache_clear()
    import importlib

    importlib.invalidate_caches()


MAIN = """
    '''A docstring.'''
    from typing import TYPE_CHECKING
    from toys.callee import f
    if TYPE_CHECKING:
        from toys.types import T
    def g(x):
        from . import late
        return f(x) + late.h(x)
"""


def test_a_changed_callee_changes_the_code_and_a_comment_does_not(package: Any) -> None:
    callee, late, types = "def f(x): return x", "def h(x): return 1", "T = int"
    base = package(main=MAIN, callee=callee, late=late, types=types)
    assert set(base) == {"toys.main", "toys.callee", "toys.late", "toys"}
    assert base == package(
        main=MAIN.replace("A docstring", "Another").replace("def g(x):", "def g( x ):  # why"),
        callee=f"'''New.'''\n{callee}",
        late=late,
        types="T = float",
    )
    for change in ({"callee": "def f(x): return -x"}, {"late": "def h(x): return 1.0"}):
        sources = {"main": MAIN, "callee": callee, "late": late, "types": types} | change
        changed = package(**sources)
        (name,) = change
        assert changed[f"toys.{name}"] != base[f"toys.{name}"]
        assert changed["toys.main"] == base["toys.main"]
    # A string that is no docstring is code, and a name in a string is an import by name.
    lazy = package(main='x = {"f": "toys.callee"}', callee=callee)
    assert set(lazy) == {"toys.main", "toys.callee"}
    assert lazy != package(main='x = {"g": "toys.callee"}', callee=callee)


def test_code_that_cannot_be_read(package: Any) -> None:
    with pytest.raises(InputError, match=r"toys\.main.*invalid syntax|invalid syntax"):
        package(main="def")
    for name in ("theoryverify.nowhere", "__main__", "math"):
        assert source_file(name) is None
        with pytest.raises(InputError, match="no source file"):
            fingerprint([name])
    for wrong in ([], "theoryverify.stats"):
        with pytest.raises(InputError, match="nonempty sequence"):
            fingerprint(wrong)


def test_the_closure_holds_what_a_simulation_rests_on() -> None:
    found = fingerprint(["theoryverify.simulate.training"])
    assert {"theoryverify.simulate.prompts", "theoryverify.exact.laws"} <= set(found)
    assert "theoryverify.simulate.store" not in found


# -- damage -------------------------------------------------------------------------------------


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def edit(path: Path, **changes: Any) -> None:
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | changes))


def forged(path: Path, **changes: Any) -> None:
    """A change whose checksum is right: the key or the types have to notice."""
    import hashlib

    document = json.loads(path.read_text()) | changes
    del document["sha256"]
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    path.write_text(json.dumps(document | {"sha256": hashlib.sha256(text.encode()).hexdigest()}))


def objects(path: Path) -> None:
    """An array of pickled objects, with a checksum that fits."""
    import hashlib
    import io

    target = io.BytesIO()
    np.lib.format.write_array(target, np.array([pickle.Unpickler], dtype=object), allow_pickle=True)
    content = target.getvalue()
    (path.parent / "0.npy").write_bytes(content)
    rows = json.loads(path.read_text())["arrays"]
    rows[0] |= {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "dtype": "|O",
        "shape": [1],
    }
    forged(path, arrays=rows)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "array missing": lambda f: (f / "1.npy").unlink(),
    "array flipped": lambda f: flip(f / "0.npy"),
    "array cut": lambda f: os.truncate(f / "0.npy", 100),
    "array empty": lambda f: os.truncate(f / "0.npy", 0),
    "array longer": lambda f: (f / "0.npy").write_bytes((f / "0.npy").read_bytes() + b"x"),
    "array a link": lambda f: ((f / "0.npy").unlink(), (f / "0.npy").symlink_to("1.npy")),
    "json missing": lambda f: (f / "entry.json").unlink(),
    "json flipped": lambda f: flip(f / "entry.json"),
    "json cut": lambda f: os.truncate(f / "entry.json", 60),
    "json a list": lambda f: (f / "entry.json").write_text("[]"),
    "json deep": lambda f: (f / "entry.json").write_text("[" * 10**5),
    "json infinite": lambda f: (f / "entry.json").write_text('{"format": 1, "about": 1e999}'),
    "json not text": lambda f: (f / "entry.json").write_bytes(b"\xff\xfe"),
    "json a pipe": lambda f: ((f / "entry.json").unlink(), os.mkfifo(f / "entry.json")),
    "version": lambda f: forged(f / "entry.json", format=2),
    "about changed": lambda f: edit(f / "entry.json", about={}),
    "configuration changed": lambda f: forged(f / "entry.json", configuration={"x": 1}),
    "code changed": lambda f: forged(f / "entry.json", code={}),
    "rows malformed": lambda f: forged(f / "entry.json", arrays=[{"name": "x"}]),
    "rows of text": lambda f: forged(f / "entry.json", arrays="12"),
    "objects": lambda f: objects(f / "entry.json"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_entry_is_found_moved_aside_and_redone(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    store.compute(CONFIGURATION, result, code=CODE)
    other = store.compute(CONFIGURATION | {"seed": 1}, result, code=CODE)
    DAMAGES[name](folder_of(store))
    with pytest.warns(StoreWarning, match="is damaged"):
        again = store.compute(CONFIGURATION, result, code=CODE)
    assert same(again, result())
    assert len(list((tmp_path / "damaged").iterdir())) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(store.compute(CONFIGURATION, never, code=CODE), result())
        assert same(store.compute(CONFIGURATION | {"seed": 1}, never, code=CODE), other)
        assert len(list(store.entries())) == 2


def test_every_flipped_byte_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put({"n": 1}, {"x": np.arange(2)}, code=CODE)
    folder = folder_of(store, {"n": 1})
    harmless = 0
    for name in ("entry.json", "0.npy"):
        content = (folder / name).read_bytes()
        for place in range(0, len(content), 7):
            changed = bytearray(content)
            changed[place] ^= 1
            (folder / name).write_bytes(changed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StoreWarning)
                found = store.get({"n": 1}, code=CODE)
            if found is None:
                os.rename(next((tmp_path / "damaged").iterdir()), folder)
            else:  # white space of the JSON is nothing that it says
                assert name == "entry.json"
                assert content[place : place + 1].isspace()
                assert found["x"].tolist() == [0, 1]
                harmless += 1
            (folder / name).write_bytes(content)
    assert harmless < 5
    assert store.get({"n": 1}, code=CODE) is not None


@given(st.binary(max_size=80), st.integers(0, 200), st.integers(0, 80))
def test_npy_bytes_are_read_or_refused(noise: bytes, place: int, removed: int) -> None:
    """Fuzzing: other bytes never give anything but an array of a permitted type, or damage."""
    content = _npy(np.arange(4.0))
    content = content[:place] + noise + content[place + removed :]
    try:
        array = _from_npy(content)
    except Damage:
        return
    assert array.dtype.kind in "biufcU"
    assert array.nbytes <= len(content)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"(4,)", b"(10**15,)"),
        (b"(4,)", b"(4444444444444,)"),
        (b"(4,)", b"(0, 99999999999999999999999)"),
        (b"(4,)", b"(-4,)"),
        (b"(4,)", b"(3,)"),
        (b"<f8", b"<f4"),
        (b"<f8", b"<f3"),
        (b"<f8", b"|O8"),
        (b"'<f8'", b"[('a', '<f8')]"),
        (b"NUMPY\x01", b"NUMPY\x03"),
    ],
)
def test_npy_headers_that_lie(old: bytes, new: bytes) -> None:
    content = _npy(np.zeros(4))
    changed = content.replace(old, new)
    assert changed != content
    with pytest.raises(Damage):
        _from_npy(changed)


@given(
    arrays(
        st.sampled_from(["?", "<i8", ">i2", "<u1", "<f4", ">f8", "<c16", "<U3"]),
        array_shapes(min_dims=0, min_side=0, max_side=3),
    )
)
def test_npy_bytes_are_those_that_numpy_reads(array: np.ndarray) -> None:
    for one in (array, np.asfortranarray(array)):
        content = _npy(one)
        for back in (_from_npy(content), np.load(io.BytesIO(content), allow_pickle=False)):
            assert back.dtype == one.dtype
            assert back.shape == one.shape
            assert back.tobytes() == one.tobytes()


def test_put_over_a_damaged_entry(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(CONFIGURATION, result(), code=CODE)
    flip(folder_of(store) / "0.npy")
    with pytest.warns(StoreWarning):
        store.put(CONFIGURATION, result(), code=CODE)
    assert same(store.compute(CONFIGURATION, never, code=CODE), result())


def test_the_first_of_two_results_stays(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(CONFIGURATION, {"x": np.array(1)}, code=CODE)
    assert store.put(CONFIGURATION, {"x": np.array(2)}, code=CODE)["x"] == 1


# -- processes ----------------------------------------------------------------------------------

WRITER = """
import sys
import numpy as np
from theoryverify.simulate.sealed import Damage
from theoryverify.simulate.store import Store
store = Store(sys.argv[1])
for i in range(int(sys.argv[2])):
    store.compute(
        {"cell": i}, lambda: {"x": np.full(2000, i)}, code=["theoryverify.memory"]
    )
    print(i, flush=True)
"""


def writer(folder: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(count)], stdout=subprocess.PIPE, text=True
    )


def test_killed_writers_leave_whole_entries_only(tmp_path: Path) -> None:
    root = tmp_path / "store"
    rng = np.random.default_rng(5)
    for _ in range(4):
        process = writer(root, 10**6)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    store = Store(root)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = {entry.configuration["cell"] for entry in store.entries()}
        assert found == set(range(len(found)))
        for i in found:
            array = store.compute({"cell": i}, never, code=CODE)["x"]
            assert np.array_equal(array, np.full(2000, i))


def test_two_processes_on_one_store(tmp_path: Path) -> None:
    both = [writer(tmp_path, 40) for _ in range(2)]
    for process in both:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert len(out.split()) == 40
    assert len(list(Store(tmp_path).entries())) == 40
    assert not list(tmp_path.glob(".writing-*"))


def test_half_written_entries_are_cleaned_once_their_process_has_ended(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    host = writers._host()
    names = {
        "dead": f".writing-{host}-{process.pid}-{'0' * 16}",
        "alive": f".writing-{host}-{os.getpid()}-{'0' * 16}",
        "elsewhere": f".writing-elsewhere-{process.pid}-{'0' * 16}",
        "old": f".writing-elsewhere-{process.pid}-{'1' * 16}",
        "other": ".writing-notes",
    }
    for name in names.values():
        (tmp_path / name).mkdir()
        (tmp_path / name / "0.npy").write_bytes(b"half")
    Store(tmp_path)
    assert all((tmp_path / name).exists() for name in names.values())  # none is a minute old
    for name, age in (("dead", 100), ("alive", 100), ("elsewhere", 100), ("old", 10**5)):
        os.utime(tmp_path / names[name], (time.time() - age,) * 2)
    store = Store(tmp_path)
    left = {label for label, name in names.items() if (tmp_path / name).exists()}
    assert left == {"alive", "elsewhere", "other"}
    assert list(store.keys()) == []


# -- the disk -----------------------------------------------------------------------------------


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.put({"n": 0}, result(), code=CODE)
    calls = 0

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writers.os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        store.compute(CONFIGURATION, result, code=CODE)
    monkeypatch.undo()
    assert not list(tmp_path.glob(".writing-*"))
    assert len(list(store.entries())) == 1


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="is not a folder"):
        Store(file)
    with pytest.raises(InputError, match="cannot write to folder"):
        Store("/proc/nowhere").compute(CONFIGURATION, never, code=CODE)
    assert list(Store(tmp_path / "not there").keys()) == []
    assert not (tmp_path / "not there").exists()


def test_the_default_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("THEORYVERIFY_STORE", raising=False)
    assert Store.open().root == Path("out/store")
    monkeypatch.setenv("THEORYVERIFY_STORE", str(tmp_path))
    assert Store.open().root == tmp_path
    assert Store.open(tmp_path / "x").root == tmp_path / "x"


def test_the_store_needs_no_torch() -> None:
    code = "import sys, theoryverify.simulate.store; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
