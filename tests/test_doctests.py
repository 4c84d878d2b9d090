"""Each example in a docstring gives what it says."""

import doctest
import importlib
import pkgutil

import pytest

import theoryverify

NAMES = [module.name for module in pkgutil.walk_packages(theoryverify.__path__, "theoryverify.")]


@pytest.mark.parametrize(
    "name", [name for name in NAMES if not name.endswith((".worker", "__main__"))]
)
def test_examples(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:  # an extra that is not installed
        pytest.skip(str(error))
    assert doctest.testmod(module).failed == 0


def test_the_packages_own_example() -> None:
    assert doctest.testmod(theoryverify).attempted >= 2
    assert doctest.testmod(theoryverify).failed == 0
