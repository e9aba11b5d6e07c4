"""Survival analysis with censoring: the Kaplan-Meier estimate, from counts by age.

Source: E. L. Kaplan, P. Meier: Nonparametric Estimation from Incomplete Observations (1958). The
confidence interval uses Greenwood's variance on the scale log(-log S), which stays between 0 and 1:
J. D. Kalbfleisch, R. L. Prentice: The Statistical Analysis of Failure Time Data (2002), section
1.4.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Z_95 = 1.959963984540054
"""95 % of the normal distribution is between -Z and Z."""

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SurvivalCurve:
    """Shares that survive, by age; every array has one value per age, from 0 on.

    Attributes:
        at_risk: Number of lives that were observed at least up to this age.
        deaths: Number of those that ended at this age.
        share: Estimated share that lives longer than this age.
        low: Lower end of the 95 % confidence interval; NaN where nothing varies (share 0 or 1).
        high: Upper end of the interval, likewise.
    """

    at_risk: Counts
    deaths: Counts
    share: Shares
    low: Shares
    high: Shares

    def median(self) -> int | None:
        """Return the least age that at most half survive; None if more than half survive."""
        reached = np.flatnonzero(self.share <= 0.5)
        return int(reached[0]) if len(reached) else None


def kaplan_meier(deaths: Counts, censored: Counts) -> SurvivalCurve:
    """Return the survival curve of lives that began at age 0.

    Args:
        deaths: Number of lives that ended at each age.
        censored: Number of lives last seen alive at each age; they count as at risk at that age.
            Its length equals that of ``deaths``.
    """
    ended = deaths + censored
    at_risk = np.cumsum(ended[::-1])[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.cumprod(np.where(at_risk > 0, 1 - deaths / at_risk, 1.0), dtype=np.float64)
        terms = np.where(deaths > 0, deaths / (at_risk * (at_risk - deaths)), 0.0)
        spread = np.sqrt(np.cumsum(terms)) / np.log(share)  # negative, because log S is
        low, high = (share ** np.exp(sign * _Z_95 * spread) for sign in (-1, 1))
    certain = (share == 0) | (share == 1)
    low, high = (np.where(certain, np.nan, end) for end in (low, high))
    return SurvivalCurve(at_risk, deaths, share, low, high)
