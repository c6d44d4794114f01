"""The rules that best-arm identification is compared with, on the same kernels.

Libraries offer these only in slow or unkept versions, so they are rebuilt here from their papers;
the allocations that they track are checked against published ones.
"""

from __future__ import annotations

from typing import ClassVar, Literal, final

from probatum.bandits.policy import BAIPolicy, RandomState
from probatum.bandits.rules import (
    C_TRACK,
    D_TRACK,
    LIL_UCB,
    LUCB_RULE,
    PLUG_IN,
    RACING,
    T3C,
    UNIFORM,
)

__all__ = ["LUCB", "ChernoffRacing", "LilUCB", "TopTwo", "TrackAndStop", "Uniform"]

GLRThreshold = Literal["mixture", "heuristic", "uncorrected"]


@final
class TrackAndStop(BAIPolicy):
    """Track-and-Stop: the oracle allocation of the empirical means, with forced exploration.

    Parameters
    ----------
    n_arms, delta, threshold, max_pulls, random_state, log_inv_delta
        As for :class:`PosteriorTracking`.
    tracking : {"D", "C", "unforced"}
        Track the present allocation and keep every count above sqrt(t) - K/2, or track the sum of
        allocations lifted to 1/(2 sqrt(K^2 + t)). "unforced" draws from the present allocation and
        forces nothing: it can get stuck, and is there to show it.

    Notes
    -----
    Source: Garivier and Kaufmann, "Optimal best arm identification with fixed confidence" (2016).

    Examples
    --------
    >>> policy = TrackAndStop(2, tracking="C", random_state=0)
    >>> policy.tell(0, 1)
    >>> policy.ask()
    1
    """

    rules: ClassVar[dict[str, int]] = {"D": D_TRACK, "C": C_TRACK, "unforced": PLUG_IN}

    def __init__(
        self,
        n_arms: int,
        delta: float = 0.05,
        threshold: GLRThreshold = "mixture",
        tracking: Literal["D", "C", "unforced"] = "D",
        max_pulls: int | None = None,
        random_state: RandomState = None,
        *,
        log_inv_delta: float | None = None,
    ) -> None:
        super().__init__(
            n_arms,
            delta,
            log_inv_delta=log_inv_delta,
            threshold=threshold,
            tracking=tracking,
            max_pulls=max_pulls,
            random_state=random_state,
        )


class _GLRPolicy(BAIPolicy):
    def __init__(
        self,
        n_arms: int,
        delta: float = 0.05,
        threshold: GLRThreshold = "mixture",
        max_pulls: int | None = None,
        random_state: RandomState = None,
        *,
        log_inv_delta: float | None = None,
    ) -> None:
        super().__init__(
            n_arms,
            delta,
            log_inv_delta=log_inv_delta,
            threshold=threshold,
            max_pulls=max_pulls,
            random_state=random_state,
        )


@final
class TopTwo(_GLRPolicy):
    """T3C: top-two Thompson sampling whose challenger is the arm hardest to tell from the leader.

    The leader is pulled half of the time. Source: Shang et al., "Fixed-confidence guarantees for
    Bayesian best-arm identification" (2020). Parameters as for :class:`PosteriorTracking`.

    Examples
    --------
    >>> policy = TopTwo(4, threshold="heuristic", random_state=0)
    >>> policy.ask()
    0
    """

    rules: ClassVar[dict[str, int]] = {"t3c": T3C}


@final
class Uniform(_GLRPolicy):
    """Every arm in turn, until the likelihood ratio tells the best: what an A/B/n test does.

    Parameters as for :class:`PosteriorTracking`.

    Examples
    --------
    >>> policy = Uniform(3)
    >>> asked = []
    >>> for _ in range(4):
    ...     asked.append(policy.ask())
    ...     policy.tell(asked[-1], 1)
    >>> asked
    [0, 1, 2, 0]
    """

    rules: ClassVar[dict[str, int]] = {"round-robin": UNIFORM}


@final
class ChernoffRacing(_GLRPolicy):
    """Pull all arms in turn, and put those out that the likelihood ratio tells from the best.

    Source: Garivier and Kaufmann (2016), section 6. Parameters as for :class:`PosteriorTracking`.

    Examples
    --------
    >>> ChernoffRacing(3, delta=0.1).ask()
    0
    """

    rules: ClassVar[dict[str, int]] = {"racing": RACING}
    certified: ClassVar[bool] = False


@final
class LUCB(BAIPolicy):
    """KL-LUCB: pull the leader or its strongest challenger, until their bounds part.

    Of the two the one with fewer pulls is pulled, where the source pulls both.

    Parameters
    ----------
    n_arms, delta, max_pulls, random_state, log_inv_delta
        As for :class:`PosteriorTracking`.
    threshold : {"union", "heuristic"}
        Level of the bounds: ln(405.5 K t^1.1 / delta), which has a proof, or ln((1 + ln t)/delta).

    Notes
    -----
    Source: Kaufmann and Kalyanakrishnan, "Information complexity in bandit subset selection"
    (2013).

    Examples
    --------
    >>> LUCB(3, delta=0.1).ask()
    0
    """

    rules: ClassVar[dict[str, int]] = {"kl-lucb": LUCB_RULE}
    thresholds: ClassVar[tuple[str, ...]] = ("union", "heuristic")
    certified: ClassVar[bool] = False

    def __init__(
        self,
        n_arms: int,
        delta: float = 0.05,
        threshold: Literal["union", "heuristic"] = "union",
        max_pulls: int | None = None,
        random_state: RandomState = None,
        *,
        log_inv_delta: float | None = None,
    ) -> None:
        super().__init__(
            n_arms,
            delta,
            log_inv_delta=log_inv_delta,
            threshold=threshold,
            max_pulls=max_pulls,
            random_state=random_state,
        )


@final
class LilUCB(BAIPolicy):
    """lil'UCB with its authors' practical constants, for which there is no proof.

    beta = 1/2, epsilon = 0, lambda = 1 + 10/K, ln(t + 2) in place of ln t. It stops when one arm
    has lambda times the pulls of all others. The contest data in ``probatum.data`` were gathered
    by it. Source: Jamieson et al., "lil' UCB: an optimal exploration algorithm for multi-armed
    bandits" (2014). Parameters as for :class:`PosteriorTracking`.

    Examples
    --------
    >>> LilUCB(3, delta=0.1).ask()
    0
    """

    rules: ClassVar[dict[str, int]] = {"lil-ucb": LIL_UCB}
    thresholds: ClassVar[tuple[str, ...]] = ("heuristic",)
    certified: ClassVar[bool] = False

    def __init__(
        self,
        n_arms: int,
        delta: float = 0.05,
        max_pulls: int | None = None,
        random_state: RandomState = None,
        *,
        log_inv_delta: float | None = None,
    ) -> None:
        super().__init__(
            n_arms,
            delta,
            log_inv_delta=log_inv_delta,
            threshold="heuristic",
            max_pulls=max_pulls,
            random_state=random_state,
        )
