"""Multi-layer Cross-attention is Provably Optimal for Multi-modal In-context Learning."""

from theoryverify.claims.paper import Paper

paper = Paper(
    name="lca",
    title="Multi-layer Cross-attention is Provably Optimal for Multi-modal In-context Learning",
    source="arXiv:2602.04872v4",
    claims="theoryverify.papers.lca.claims:claims",
    derivations="theoryverify.papers.lca.derivations:derivations",
    figures="theoryverify.papers.lca.figures:figures",
    commands="theoryverify.papers.lca.commands:commands",
    searches="theoryverify.papers.lca.searches:searches",
    references="theoryverify.papers.lca.references:references",
)
