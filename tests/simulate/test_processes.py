"""Processes that have joined part without a trace: a thread left over may end the process later."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.two_processes import in_two_processes

pytest.importorskip("torch")

SCRIPT = """
import os
import pathlib
import sys

import torch

from theoryverify.simulate.processes import place, processes


def threads():
    return [task.joinpath("comm").read_text().strip() for task in
            pathlib.Path("/proc/self/task").iterdir()]


def work(ending):
    for _ in range(2):
        model = torch.nn.Linear(3, 3)
        stepper = torch.optim.AdamW(model.parameters())
        model = torch.nn.parallel.DistributedDataParallel(model)
        model(torch.ones(2, 3)).sum().backward()
        stepper.step()
    assert place() == (int(os.environ["RANK"]), 2)
    inside.extend(threads())
    try:
        if ending:
            raise ValueError("first")
    except ValueError as error:
        if ending == "again":
            raise KeyError("second") from error
        raise


torch.set_num_threads(1)
inside, kept = [], None
assert len(threads()) == 1, threads()
try:
    with processes() as device:
        work(sys.argv[1])
except (ValueError, KeyError) as error:
    kept = error  # with its frames
assert place() == (0, 1)
assert any("gloo" in name for name in inside), inside
assert len(threads()) == 1, threads()
assert (kept is None) == (not sys.argv[1])
"""


LOST = """
import os

import torch

from theoryverify.errors import ProcessLost
from theoryverify.simulate.processes import processes

torch.set_num_threads(1)
try:
    with processes():
        torch.distributed.barrier()
        if os.environ["RANK"] == "0":
            os._exit(7)
        torch.distributed.all_reduce(torch.ones(2))
except ProcessLost as error:
    print(error)
"""


DIFFERENT = """
import os

import torch

from theoryverify.errors import InputError
from theoryverify.simulate.processes import RefusedElsewhere, agree, processes

torch.set_num_threads(1)
rank = int(os.environ["RANK"])
with processes():
    agree({"rate": 0.1, "names": ["ä", 1]}, torch.device("cpu"))
    try:
        agree({"rate": 0.1 + rank, "seed": 3}, torch.device("cpu"))
    except RefusedElsewhere:
        print("elsewhere")
    except InputError as error:
        print(error)
"""


def test_processes_of_different_runs_are_refused() -> None:
    codes, said = in_two_processes([sys.executable, "-c", DIFFERENT])
    assert codes == [0, 0], said
    assert said[0][0] == "elsewhere\n"
    assert (
        said[1][0] == "process 1 has another run than process 0: rate is 0.1 there and 1.1 here\n"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE = 'two'"),
        ({"WORLD_SIZE": "2"}, "the 2 processes cannot join: .*RANK"),
    ],
)
def test_what_torchrun_did_not_say(
    given: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from theoryverify.errors import InputError
    from theoryverify.simulate.processes import processes, speaks

    monkeypatch.setenv("RANK", "1")
    assert speaks()  # alone
    monkeypatch.delenv("RANK")
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=message), processes():
        pass


def test_who_loses_another_says_so() -> None:
    codes, said = in_two_processes([sys.executable, "-c", LOST])
    assert codes == [7, 0], said
    assert said[1][0] == "process 1 has lost another one\n"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
@pytest.mark.parametrize("ending", ["", "once", "again"])
def test_no_thread_outlives_its_group(ending: str) -> None:
    codes, said = in_two_processes([sys.executable, "-c", SCRIPT, ending])
    assert codes == [0, 0], said
