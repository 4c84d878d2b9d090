"""The paper, and the works whose theorems its claims lean on."""

from __future__ import annotations

from theoryverify.claims.references import Reference

references = (
    Reference(
        "zhang2024trained",
        "article",
        {
            "author": "Zhang, Ruiqi and Frei, Spencer and Bartlett, Peter L.",
            "title": "Trained Transformers Learn Linear Models In-Context",
            "journal": "Journal of Machine Learning Research",
            "volume": "25",
            "number": "49",
            "year": "2024",
        },
        "the paper",
        always=True,
    ),
    Reference(
        "polyak1963gradient",
        "article",
        {
            "author": "Polyak, Boris T.",
            "title": "Gradient Methods for the Minimisation of Functionals",
            "journal": "USSR Computational Mathematics and Mathematical Physics",
            "volume": "3",
            "number": "4",
            "pages": "864--878",
            "year": "1963",
        },
        "convergence under a gradient inequality",
        facts=("Polyak-Łojasiewicz",),
    ),
    Reference(
        "nagumo1942lage",
        "article",
        {
            "author": "Nagumo, Mitio",
            "title": "Über die Lage der Integralkurven gewöhnlicher Differentialgleichungen",
            "journal": "Proceedings of the Physico-Mathematical Society of Japan",
            "volume": "24",
            "pages": "551--559",
            "year": "1942",
        },
        "regions that a flow does not leave",
        facts=("Nagumo",),
    ),
)
