"""Statistical kernels that several rooms share."""

from probatum.stats.anytime_t import anytime_t_e_value, anytime_t_half_width, anytime_t_interval
from probatum.stats.beta_binomial import log_rate_evidence, rate_interval
from probatum.stats.betting import betting_interval, log_wealth

__all__ = [
    "anytime_t_e_value",
    "anytime_t_half_width",
    "anytime_t_interval",
    "betting_interval",
    "log_rate_evidence",
    "log_wealth",
    "rate_interval",
]
