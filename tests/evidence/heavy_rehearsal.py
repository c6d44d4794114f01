"""An experiment in the shape that heavy papers have: a stand-in for quantising a language model.

A small network is trained once (``prepare``). A trial quantises each layer in many ways, one cell
each, measures on held-out rows what every cell costs (KL of the outputs), and asks every arm to
predict it. The measurement is expensive and the arms share it, hence ``together``. What is claimed
is a rank correlation per replicate.
"""

import warnings

import numpy as np

from probatum.evidence import (
    Arm,
    Budget,
    Claim,
    Dataset,
    Experiment,
    Metric,
    Paper,
    Row,
    Stat,
    Within,
)

HERE = "heavy_rehearsal"


def digits():
    """Images and labels."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return found.data / 16.0, found.target


def train(block, folder):
    """Train the network, and leave a mark so that a test can count how often."""
    from sklearn.neural_network import MLPClassifier

    X, y = block.dataset.open()
    seed = int(block.rng("train").integers(2**31))
    model = MLPClassifier((32, 24), max_iter=block.size["epochs"], random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:900], y[:900])
    parts = {f"w{i}": w for i, w in enumerate(model.coefs_)}
    parts |= {f"b{i}": b for i, b in enumerate(model.intercepts_)}
    np.savez(folder / "model.npz", **parts)


def forward(weights, biases, X):
    """Inputs of each layer, and the log-probabilities."""
    inputs = []
    for at, (w, b) in enumerate(zip(weights, biases, strict=True)):
        inputs.append(X)
        X = X @ w + b
        if at < len(weights) - 1:
            X = np.maximum(X, 0)
    X = X - X.max(axis=1, keepdims=True)
    return inputs, X - np.log(np.exp(X).sum(axis=1, keepdims=True))


def curvature(weights, biases, X, rng):
    """Fisher factor of each layer's output, from sampled labels."""
    inputs, logp = forward(weights, biases, X)
    p = np.exp(logp)
    labels = (p.cumsum(axis=1) > rng.random((len(p), 1))).argmax(axis=1)
    grad = np.eye(p.shape[1])[labels] - p
    found = []
    for at in range(len(weights) - 1, -1, -1):
        found.insert(0, grad.T @ grad / len(grad))
        if at:
            grad = (grad @ weights[at].T) * (inputs[at] > 0)
    return inputs, found


class Price:
    """Predicts what an error D of a layer's weights costs, from factors that may be dropped."""

    def __init__(self, curved=True, activation=True, known=True):
        self.curved, self.activation, self.known = curved, activation, known

    def __call__(self, D, H, C, rng):
        H = H if self.curved else np.eye(len(H))
        C = C if self.activation else np.eye(len(C))
        price = 0.5 * float(np.sum((C @ D) * (D @ H)))
        return price if self.known else float(rng.lognormal())


class Absent:
    """A rival whose library gives up on this model."""

    def __call__(self, D, H, C, rng):
        raise ArithmeticError("a matrix is singular")


def quantised(w, bits, group, shrink):
    """Round to nearest in groups of rows, clipped."""
    out = np.empty_like(w)
    for start in range(0, len(w), group):
        part = w[start : start + group]
        scale = shrink * np.abs(part).max() / (2 ** (bits - 1) - 1)
        out[start : start + group] = np.clip(
            np.round(part / scale), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        )
        out[start : start + group] *= scale
    return out


def trial(block):
    """A row for each arm and cell: its price, and the cost that was measured once for all."""
    model = np.load(block.prepared / "model.npz")
    count = len(model.files) // 2
    weights = [model[f"w{i}"] for i in range(count)]
    biases = [model[f"b{i}"] for i in range(count)]
    X, _ = block.dataset.open()
    chosen = block.rng("rows").permutation(np.arange(900, len(X)))
    calibration, test = X[chosen[:300]], X[chosen[300:600]]
    inputs, H = curvature(weights, biases, calibration, block.rng("labels"))
    C = [x.T @ x / len(x) for x in inputs]
    _, logp = forward(weights, biases, test)
    prices = {arm.id: arm.build() for arm in block.arms}
    rows, broken = [], {}
    for layer in range(count):
        for bits, group, shrink in block.size["menu"]:
            changed = list(weights)
            changed[layer] = quantised(weights[layer], bits, group, shrink)
            _, logq = forward(changed, biases, test)
            kl = float(np.mean(np.sum(np.exp(logp) * (logp - logq), axis=1)))
            D = changed[layer] - weights[layer]
            for arm, price in prices.items():
                if arm in broken:
                    continue
                cell = f"{layer} {bits} {group} {shrink}"
                try:
                    predicted = price(D, H[layer], C[layer], block.rng(f"control {cell}"))
                except ArithmeticError as error:
                    broken[arm] = str(error)
                    continue
                values = {"price": predicted, "kl": kl}
                rows.append(Row(arm, f"layer {layer}", values=values))
    return rows + [Row(arm, failed=why) for arm, why in broken.items()]


MENU = [
    (bits, group, shrink)
    for bits in (2, 3, 4, 5, 6)
    for group in (4, 8, 16, 64)
    for shrink in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
]

QUANTISE = Experiment(
    "quantise",
    trial=f"{HERE}:trial",
    prepare=f"{HERE}:train",
    together=True,
    arms=(
        Arm("price", f"{HERE}:Price", "method"),
        Arm("reconstruction", f"{HERE}:Price", params={"curved": False}),
        Arm("weight-error", f"{HERE}:Price", params={"curved": False, "activation": False}),
        Arm("gives-up", f"{HERE}:Absent"),
        Arm("drawn", f"{HERE}:Price", "control", params={"known": False}),
    ),
    datasets=(Dataset("digits", f"{HERE}:digits", "BSD-3-Clause"),),
    metrics={"price": Metric("lower"), "kl": Metric("lower")},
    budgets={
        "smoke": Budget(20, {"epochs": 10, "menu": MENU[::6]}, 60),
        "quick": Budget(30, {"epochs": 40, "menu": MENU}, 60),
    },
)

PAPER = Paper(
    slug="rehearsal",
    title="A rehearsal",
    domain="language",
    fidelity="abstract",
    methods=(f"{HERE}:Price",),
    summary="Predicts what quantising a layer costs.",
    claims=(
        Claim(
            "ranks-better",
            "The price ranks cells better than every proxy that drops a factor.",
            "paper",
            QUANTISE,
            Within(
                Stat("price", "spearman", against="kl"),
                "price",
                to=("reconstruction", "weight-error"),
                low=0.01,
            ),
        ),
        Claim(
            "ranks-within",
            "It ranks the cells of one layer as the measurement does.",
            "paper",
            QUANTISE,
            Within(
                Stat("price", "kendall", against="kl", per_case=True),
                "price",
                scale="absolute",
                low=0.7,
            ),
        ),
        Claim(
            "beats-one-that-gives-up",
            "The price ranks cells better than a rival that failed.",
            "paper",
            QUANTISE,
            Within(Stat("price", "spearman", against="kl"), "price", to=("gives-up",), low=0.01),
        ),
        Claim(
            "ranks-well",
            "The price ranks cells as the measurement does.",
            "paper",
            QUANTISE,
            Within(Stat("price", "spearman", against="kl"), "price", scale="absolute", low=0.9),
            procedure="exact",
        ),
        Claim(
            "calibrated",
            "Price and cost are proportional.",
            "paper",
            QUANTISE,
            Within(
                Stat("kl", "loglog", against="price"), "price", scale="absolute", low=0.8, high=1.2
            ),
        ),
    ),
)
