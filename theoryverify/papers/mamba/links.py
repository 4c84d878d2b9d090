"""The links that the claims look at."""

from __future__ import annotations

HE2 = "He2(z)/sqrt(2)"
HE3 = "He3(z)/sqrt(6)"
HE4 = "He4(z)/sqrt(24)"
HE5 = "He5(z)/sqrt(120)"
MIX = "(He2(z)/sqrt(2)+He3(z)/sqrt(6))/sqrt(2)"
TINY = "He4(z) - 1e-12*He1(z)"
CANCELLING = "He2(z)/sqrt(2) + He3(z)/sqrt(6) - sqrt(3)/2*He4(z)/sqrt(24)"
"""``E[g² z] = 0`` although two degrees are adjacent: the leading order is 2, not 1."""

POLYNOMIALS = (HE2, HE3, HE4, HE5, MIX)
MORE = (*POLYNOMIALS, TINY, CANCELLING, "z", "z**4", "(z+1)**2 - 2*z - 1", "He7(z) + 3*He6(z)")

NAMES = {
    HE2: "he_2",
    HE3: "he_3",
    HE4: "he_4",
    HE5: "he_5",
    MIX: "(he_2+he_3)/√2",
    CANCELLING: "he_2+he_3-(√3/2)he_4",
}
