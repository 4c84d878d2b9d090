"""Mamba Can Learn Low-Dimensional Targets In-Context via Test-Time Feature Learning."""

from theoryverify.claims.paper import Paper

paper = Paper(
    name="mamba",
    title="Mamba Can Learn Low-Dimensional Targets In-Context via Test-Time Feature Learning",
    source="arXiv:2510.12026v2",
    claims="theoryverify.papers.mamba.claims:claims",
    derivations="theoryverify.papers.mamba.derivations:derivations",
    figures="theoryverify.papers.mamba.figures:figures",
    commands="theoryverify.papers.mamba.commands:commands",
    searches="theoryverify.papers.mamba.searches:searches",
    references="theoryverify.papers.mamba.references:references",
)
