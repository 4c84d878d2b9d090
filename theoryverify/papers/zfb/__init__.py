"""Trained Transformers Learn Linear Models In-Context (Zhang, Frei, Bartlett)."""

from theoryverify.claims.paper import Paper

paper = Paper(
    name="zfb",
    title="Trained Transformers Learn Linear Models In-Context",
    source="arXiv:2306.09927",
    claims="theoryverify.papers.zfb.claims:claims",
    derivations="theoryverify.papers.zfb.derivations:derivations",
    figures="theoryverify.papers.zfb.figures:figures",
    commands="theoryverify.papers.zfb.commands:commands",
    references="theoryverify.papers.zfb.references:references",
)
