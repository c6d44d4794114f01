"""probatum.check refuses what it can't take, in one line."""

import pytest

from probatum import api


@pytest.mark.parametrize(
    ("names", "settings", "kind", "said"),
    [
        ((["coins"],), {}, TypeError, "one by one"),
        (("coins",), {"profile": "huge"}, ValueError, "smoke"),
        (("coins",), {"replicates": 0}, ValueError, "replicates"),
        (("coins",), {"replicates": -3}, ValueError, "replicates"),
        (("coins",), {"replicates": 10**9}, ValueError, "replicates"),
        (("coins",), {"replicates": 2.5}, TypeError, "replicates"),
        (("coins",), {"jobs": -1}, ValueError, "jobs"),
        (("coins",), {"jobs": "many"}, TypeError, "jobs"),
        (("coins",), {"jobs": True}, TypeError, "jobs"),
        (("coins",), {"store": 3}, TypeError, "store"),
        (("coins",), {"data": 3}, TypeError, "data must be a path"),
        (("coins",), {"data": [3]}, TypeError, "data must be a path"),
        (("coins",), {"data_options": {"target": 3}}, TypeError, "data_options must map"),
        (("coins",), {"arms": ["m=a:b"]}, TypeError, "arms must map"),
        (("coins",), {"arms": {"m": "nonsense"}}, ValueError, "'module:attribute'"),
    ],
)
def test_misuse_is_named(toy, names, settings, kind, said):
    with pytest.raises(kind, match=said) as caught:
        api.check(*names, **settings)
    assert len(str(caught.value).splitlines()) == 1


def test_a_store_may_be_a_path(toy):
    checked = api.check("noisy", jobs=0, store=toy / "a" / "b.db")
    assert (toy / "a" / "b.db").exists()
    assert checked.run["failures"] == []
