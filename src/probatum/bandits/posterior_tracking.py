"""Best-arm identification that explores by posterior draws alone."""

from __future__ import annotations

from typing import ClassVar, Literal, final

from probatum.bandits.policy import BAIPolicy, RandomState
from probatum.bandits.rules import CUMULATIVE, POSTERIOR

__all__ = ["PosteriorTracking"]


@final
class PosteriorTracking(BAIPolicy):
    """Find the best of K Bernoulli arms with error at most delta, without forced exploration.

    Every arm is pulled once. Then each round draws a mean for every arm from its Beta posterior,
    computes the oracle allocation of the drawn instance and draws the next arm from it. It stops
    when the Bernoulli generalised likelihood ratio of the leader against each challenger exceeds
    a threshold.

    Parameters
    ----------
    n_arms : int
        At least 2.
    delta : float, default=0.05
        Allowed probability of a wrong answer, in (0, 1).
    prior : (float, float), default=(1, 1)
        Beta prior of every arm: prior successes and failures.
    threshold : {"mixture", "heuristic", "uncorrected"}
        "mixture" has a proof that errors are at most delta; "heuristic", ln((1 + ln t)/delta), is
        what published experiments use: no proof, and about an eighth of the pulls at delta = 0.1;
        "uncorrected", ln(1/delta), ignores that one looks after every pull.
    tracking : {"sample", "cumulative"}
        Draw the arm from the allocation, or pull the one that lags most behind the sum of the
        allocations so far (derandomised; ours).
    max_pulls : int, optional
        Pulls after which it stops undecided: two equally good best arms are never told apart.
    random_state : int, Generator, SeedSequence or None
    log_inv_delta : float, optional
        ln(1/delta), in place of a delta too small for a float.

    Attributes
    ----------
    best_arm_ : int or None
    n_pulls_ : ndarray of int, shape (K,)
    glr_ : float
        Evidence so far, in nats.

    Notes
    -----
    Source: "posterior-tracking" (abstract only). It leaves open the prior (uniform here), the
    threshold and what to do with drawn instances whose two best agree to 1e-12 (half and half).
    As delta goes to 0, pulls per ln(1/delta) go to the characteristic time of
    :func:`probatum.sequential.oracle_weights`, which is the least possible; at delta around 0.1
    it takes more pulls than :class:`TrackAndStop`.

    Examples
    --------
    >>> from probatum.sequential import RewardTape
    >>> policy = PosteriorTracking(3, delta=0.05, threshold="heuristic", random_state=0)
    >>> captions = RewardTape([0.35, 0.5, 0.7], 1)  # in life: show it, see whether they laugh
    >>> while not policy.stopped:
    ...     arm = policy.ask()
    ...     policy.tell(arm, captions.pull(arm))
    >>> found = policy.result()
    >>> found.verdict, found.best_arm, found.glr > found.threshold
    ('identified', 2, True)

    It can be put aside and taken up again:

    >>> policy = PosteriorTracking(2, random_state=0)
    >>> policy.tell(policy.ask(), 1)
    >>> PosteriorTracking.from_json(policy.to_json()).ask() == policy.ask()
    True
    """

    rules: ClassVar[dict[str, int]] = {"sample": POSTERIOR, "cumulative": CUMULATIVE}

    def __init__(
        self,
        n_arms: int,
        delta: float = 0.05,
        prior: tuple[float, float] = (1.0, 1.0),
        threshold: Literal["mixture", "heuristic", "uncorrected"] = "mixture",
        tracking: Literal["sample", "cumulative"] = "sample",
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
            prior=prior,
            max_pulls=max_pulls,
            random_state=random_state,
        )
