"""The paper, and the works whose notions its claims use."""

from __future__ import annotations

from theoryverify.claims.references import Reference

references = (
    Reference(
        "oh2025mamba",
        "misc",
        {
            "author": "Oh, Junsoo and Huang, Wei and Suzuki, Taiji",
            "title": "{Mamba} Can Learn Low-Dimensional Targets In-Context via Test-Time "
            "Feature Learning",
            "eprint": "2510.12026",
            "archiveprefix": "arXiv",
            "year": "2025",
        },
        "the paper",
        always=True,
    ),
    Reference(
        "benarous2021online",
        "article",
        {
            "author": "Ben Arous, Gérard and Gheissari, Reza and Jagannath, Aukosh",
            "title": "Online Stochastic Gradient Descent on Non-Convex Losses from "
            "High-Dimensional Inference",
            "journal": "Journal of Machine Learning Research",
            "volume": "22",
            "number": "106",
            "pages": "1--51",
            "year": "2021",
        },
        "the information exponent",
        claims=("mamba.A",),
    ),
    Reference(
        "damian2024computational",
        "inproceedings",
        {
            "author": "Damian, Alex and Pillaud-Vivien, Loucas and Lee, Jason D. and Bruna, Joan",
            "title": "Computational-Statistical Gaps in {Gaussian} Single-Index Models",
            "booktitle": "Conference on Learning Theory",
            "eprint": "2403.05529",
            "archiveprefix": "arXiv",
            "year": "2024",
        },
        "the generative exponent",
        claims=("mamba.B", "mamba.C", "mamba.D"),
    ),
)
