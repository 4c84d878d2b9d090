"""Deterministic hypothesis runs: a red test stays red until something is mended."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "theoryverify",
    derandomize=True,
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("theoryverify")

pytest_plugins = ["pytester"]
