"""The jump of the rectifier: what one gradient step sees of the query, in closed form.

With ``M(z) > 0`` exactly where ``|z| > t`` the label's part of the query factor ``K_k`` is
``J_k = E[he_n(z) he_k(z); |z| > t]``. Since ``(He_{k-1} φ)' = -He_k φ``, all of them are boundary
terms at ``t``. For ``g = he_n`` and large ``ρ`` the threshold is ``t² = 1 - 1/n``.
"""

from __future__ import annotations

from fractions import Fraction

from theoryverify.errors import InputError
from theoryverify.exact.forms import Form
from theoryverify.exact.gaussian import integral
from theoryverify.exact.points import Point
from theoryverify.exact.rationals import positive_integer
from theoryverify.exact.surds import Surds, hermite, root_factorial


def threshold(n: int) -> Surds:
    """``t = √(1 - 1/n)``, where ``M(z) = 0`` for ``g = he_n`` in the limit ``ρ → ∞``."""
    return Surds.root(1 - Fraction(1, positive_integer(n, "n", least=2)))


def jump_polynomial(n: int) -> Surds:
    """``B(t)`` with ``J_k = B(t) φ(t)``: ``k = 1`` for odd ``n``, ``k = 2`` for even ``n``, ``n >= 3``.

    ``J_1 = 2 [He_n + n He_{n-2}](t) φ(t)/√(n!)``,
    ``J_2 = √2 [He_{n+1} + 2n He_{n-1} + n(n-1) He_{n-3}](t) φ(t)/√(n!)``.
    """
    n = positive_integer(n, "n", least=3, most=200)
    norm = root_factorial(n).inverse()
    if n % 2:
        inner = hermite(n) + Surds.of(n) * hermite(n - 2)
        return Surds.of(2) * norm * inner
    inner = hermite(n + 1) + Surds.of(2 * n) * hermite(n - 1)
    inner = inner + Surds.of(n * (n - 1)) * hermite(n - 3)
    return Surds.root(2) * norm * inner


def query_factor(n: int, t: Surds, k: int | None = None) -> Form:
    """``E[he_n he_k; |z| > t]`` as an exact number, by integration.

    ``k`` is 1 for odd and 2 for even ``n`` unless given.
    """
    if not t.is_constant or t.real_sign() < 0:
        raise InputError("the threshold must be a number that is not negative")
    order = (1 if n % 2 else 2) if k is None else k
    product = hermite(n) * hermite(order)
    scale = (root_factorial(n) * root_factorial(order)).inverse()
    form = Form.of(product * scale)
    end = Point(t)
    return integral(form, end, None) + integral(form, None, end.reflect())


def boundary_term(polynomial: Surds, t: Surds) -> Form:
    """``B(t) φ(t)`` as an exact number."""
    exponent = Surds.of(Fraction(-1, 2)) * t * t
    return Form({(exponent, ()): polynomial(t)}) * Form.atom("phi", Form({}))
