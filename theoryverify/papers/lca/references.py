"""The paper, and the works whose theorems its claims lean on."""

from __future__ import annotations

from theoryverify.claims.references import Reference

references = (
    Reference(
        "barnfield2026lca",
        "misc",
        {
            "author": "Barnfield and Sen and Sur",
            "title": "Multi-layer Cross-attention is Provably Optimal for Multi-modal "
            "In-context Learning",
            "eprint": "2602.04872",
            "archiveprefix": "arXiv",
            "year": "2026",
        },
        "the paper",
        always=True,
    ),
    Reference(
        "davidson2001local",
        "incollection",
        {
            "author": "Davidson, Kenneth R. and Szarek, Stanislaw J.",
            "title": "Local Operator Theory, Random Matrices and {Banach} Spaces",
            "booktitle": "Handbook of the Geometry of {Banach} Spaces",
            "volume": "1",
            "pages": "317--366",
            "publisher": "North-Holland",
            "year": "2001",
        },
        "singular values of Gaussian matrices",
        facts=("Davidson-Szarek",),
    ),
    Reference(
        "lojasiewicz1984sur",
        "incollection",
        {
            "author": "Łojasiewicz, Stanisław",
            "title": "Sur les trajectoires du gradient d'une fonction analytique",
            "booktitle": "Seminari di Geometria 1982--1983",
            "pages": "115--117",
            "publisher": "Università di Bologna",
            "year": "1984",
        },
        "convergence of bounded gradient flows",
        facts=("(Łojasiewicz)",),
    ),
    Reference(
        "lasalle1960some",
        "article",
        {
            "author": "LaSalle, Joseph P.",
            "title": "Some Extensions of {Liapunov's} Second Method",
            "journal": "IRE Transactions on Circuit Theory",
            "volume": "7",
            "number": "4",
            "pages": "520--527",
            "year": "1960",
        },
        "limits of gradient flows",
        facts=("LaSalle",),
    ),
    Reference(
        "erdos1940interpolation",
        "article",
        {
            "author": "Erdős, Paul and Turán, Paul",
            "title": "On Interpolation. {III}. Interpolatory Theory of Polynomials",
            "journal": "Annals of Mathematics",
            "volume": "41",
            "number": "3",
            "pages": "510--553",
            "year": "1940",
        },
        "zeros of orthogonal polynomials",
        facts=("Erdős-Turán",),
    ),
    Reference(
        "golub1965calculating",
        "article",
        {
            "author": "Golub, Gene H. and Kahan, William",
            "title": "Calculating the Singular Values and Pseudo-Inverse of a Matrix",
            "journal": "Journal of the SIAM: Series B, Numerical Analysis",
            "volume": "2",
            "number": "2",
            "pages": "205--224",
            "year": "1965",
        },
        "bidiagonalisation of a Gaussian matrix",
        claims=("lca.H.law",),
    ),
)
