"""Power laws fitted to degrees.

Source: Clauset, Shalizi and Newman, Power-law distributions in empirical data, 2009. The exponent
is the maximum-likelihood estimate for discrete values (3.1); the least value that follows the law
is the one with the smallest Kolmogorov-Smirnov distance (3.3).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arclink.extras import analysis_extra

_LEAST_TAIL = 50
"""Smallest number of values for a fit; fewer have no significance (Clauset et al., 3.2)."""

_EXPONENTS = (1.01, 8.0)
"""The range in which exponents are searched."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """p(x) ∝ x ** -exponent for x ≥ least.

    Attributes:
        error: Standard error of the exponent.
        distance: Kolmogorov-Smirnov distance between the law and the values from ``least`` on; 0 is
            a perfect fit.
        tail: Number of those values.
    """

    exponent: float
    least: int
    error: float
    distance: float
    tail: int

    def share_from(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the share of the law's distribution that is not less than each value."""
        with analysis_extra():
            from scipy.special import zeta

        shares: npt.NDArray[np.float64] = zeta(self.exponent, np.asarray(values)) / zeta(
            self.exponent, self.least
        )
        return shares


def fit_power_law(values: Counts, counts: Counts) -> PowerLaw | None:
    """Return the power law that fits best from some value on; None if every tail is too short.

    Args:
        values: Distinct, sorted, at least 1.
        counts: Number of occurrences of each value.
    """
    with analysis_extra():
        from scipy.special import zeta

    best: PowerLaw | None = None
    tails = np.cumsum(counts[::-1])[::-1]
    for index in range(len(values) - 1):  # any law fits a single value
        tail = int(tails[index])
        if tail < _LEAST_TAIL:
            break
        least = int(values[index])
        exponent = _likeliest(least, float((counts[index:] * np.log(values[index:])).sum() / tail))
        whole = zeta(exponent, least)
        up_to, below = (
            1 - zeta(exponent, values[index:] + 1) / whole,
            1 - zeta(exponent, values[index:]) / whole,
        )
        there = np.cumsum(counts[index:]) / tail
        # Over all whole numbers, the distance is greatest at a value that occurs, or directly
        # before one.
        distance = float(max(np.abs(there - up_to).max(), np.abs(there[:-1] - below[1:]).max()))
        if best is None or distance < best.distance:
            best = PowerLaw(exponent, least, _error(exponent, least, tail), distance, tail)
    return best


def _likeliest(least: int, mean_log: float) -> float:
    """Return the exponent with the greatest likelihood, given the mean logarithm of the values."""
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    found = minimize_scalar(
        lambda exponent: float(np.log(zeta(exponent, least))) + exponent * mean_log,
        bounds=_EXPONENTS,
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(found.x)


def _error(exponent: float, least: int, tail: int) -> float:
    """Return the standard error, from the curvature of the likelihood by finite differences.

    Source: Clauset et al., equation 3.6.
    """
    from scipy.special import zeta

    step = 1e-3
    below, here, above = (
        float(np.log(zeta(exponent + offset, least))) for offset in (-step, 0.0, step)
    )
    return float(step / np.sqrt(tail * (below - 2 * here + above)))
