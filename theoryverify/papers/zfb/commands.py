"""The verb ``lsa-risk``. Only argparse is imported until it runs."""

from __future__ import annotations

import argparse

from theoryverify.claims.paper import Command, Outcome


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--spectrum", required=True, metavar="L1,L2,...", help="eigenvalues of Λ, such as 1,2,1/2"
    )
    parser.add_argument("--train-length", required=True, metavar="N", help="examples in training")
    parser.add_argument("--test-length", required=True, metavar="M", help="examples at test")


def lsa_risk(args: argparse.Namespace) -> Outcome:
    """Theorem 4.2 for linear tasks: exact fractions."""
    from theoryverify.exact.rationals import positive_integer
    from theoryverify.papers.zfb.risk import spectrum_of, trained_risk

    spectrum = spectrum_of([part.strip() for part in args.spectrum.split(",")])
    n = positive_integer(args.train_length, "train length N")
    m = positive_integer(args.test_length, "test length M")
    found = trained_risk(spectrum, n, m)
    trivial = sum(spectrum)
    document = {
        "risk": {"exact": str(found.total), "value": float(found.total)},
        "variance": {"exact": str(found.variance), "value": float(found.variance)},
        "bias": {"exact": str(found.bias), "value": float(found.bias)},
        "trivial": {"exact": str(trivial), "value": float(trivial)},
    }
    lines = [
        f"risk      {float(found.total):.10g}  = {found.total}",
        f"variance  {float(found.variance):.10g}  (order 1/M)",
        f"bias      {float(found.bias):.10g}  (order 1/N², whatever M)",
        f"trivial   {float(trivial):.10g}  (predict 0: tr Λ)",
    ]
    return Outcome(document, "\n".join(lines))


commands = (
    Command("lsa-risk", "risk of the trained linear self-attention layer", _configure, lsa_risk),
)
