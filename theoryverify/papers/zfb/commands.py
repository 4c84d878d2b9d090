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
    from theoryverify.exact.rationals import decimal, exact_text, positive_integer, shown
    from theoryverify.papers.zfb.risk import spectrum_of, trained_risk

    spectrum = spectrum_of([part.strip() for part in args.spectrum.split(",")])
    n = positive_integer(args.train_length, "train length N")
    m = positive_integer(args.test_length, "test length M")
    found = trained_risk(spectrum, n, m)
    trivial = sum(spectrum)
    document = {
        "risk": {"exact": exact_text(found.total), "value": decimal(found.total)},
        "variance": {"exact": exact_text(found.variance), "value": decimal(found.variance)},
        "bias": {"exact": exact_text(found.bias), "value": decimal(found.bias)},
        "trivial": {"exact": exact_text(trivial), "value": decimal(trivial)},
    }
    lines = [
        f"risk      {decimal(found.total)}  = {shown(found.total)}",
        f"variance  {decimal(found.variance)}  (order 1/M)",
        f"bias      {decimal(found.bias)}  (order 1/N², whatever M)",
        f"trivial   {decimal(trivial)}  (predict 0: tr Λ)",
    ]
    return Outcome(document, "\n".join(lines))


commands = (
    Command("lsa-risk", "risk of the trained linear self-attention layer", _configure, lsa_risk),
)
