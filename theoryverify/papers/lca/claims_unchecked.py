"""Statements of the paper that no check covers yet, so that ``list`` shows every one."""

from __future__ import annotations

from theoryverify.claims import Claim

_NOT_YET = "no check is written yet"

claims = [
    Claim(f"lca.{key}", place, statement, title=title, not_checked=_NOT_YET)
    for key, place, statement, title in (
        ("6.2.flow", "Theorem 6.2, item 1; Lemma F.2",
         r"\dot\alpha=-R_T'(\alpha)\ \Rightarrow\ \alpha(t)\to\alpha^*_T",
         "gradient flow on R_T converges to α*_T from any start"),
        ("6.3", "Theorem 6.3", r"(\alpha_t,\beta_t)\to(\alpha^*_T,\beta^*_T)\to(\alpha^*,-\alpha^*)",
         "two parameters: the flow converges for T >= T'(β₀)"),
        ("G.1", "Lemma G.1", r"A\to\infty\ (|\beta|\to\infty),\ \inf A>0", "A(β) is coercive"),
        ("G.2", "Lemma G.2", r"|\alpha^*(\beta)|\le M^*", "α*(β) is bounded"),
        ("G.3", "Lemma G.3", r"|\alpha_t|\le M^*+(\ell(\alpha_0,\beta_0)/A^*)^{1/2}",
         "α stays bounded along the flow"),
        ("G.4", "Lemma G.4", r"F_T\ge c\,r^{2T} \text{ near } -2/\overline Z \text{ and } 0",
         "F_T is large near the window's ends"),
        ("G.5", "Lemma G.5", r"\{F_T\le C\rho^{2T}\}\subset K_0", "low levels lie inside the window"),
        ("G.6", "Lemma G.6", r"\ell(\alpha_0,\beta_0)\le C_0\rho_0^{2T}", "the starting loss is small"),
        ("G.7", "Theorem G.7", r"T\ge T'(\beta_0)\Rightarrow \text{the flow converges}",
         "convergence of the two-parameter flow"),
        ("G.8", "Lemma G.8", r"F_T^{1/2T}\to\varphi", "F_T^{1/2T} → φ uniformly"),
        ("G.9", "Lemma G.9", r"G_T'\to(\log\varphi)'", "the derivative converges uniformly"),
        ("G.10", "Theorem G.10", r"(\alpha^*_T,\beta^*_T)\to(\alpha^*,-\alpha^*)",
         "the two-parameter limit"),
        ("H.5", "Appendix H, (H.1)-(H.5)",
         r"\mathbb E[(\hat y_q-\langle w,x_q\rangle)^2\mid G_\delta]\le \text{bias}+\text{variance}",
         "finite context and depth"),
    )
]
