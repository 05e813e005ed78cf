"""Choosing state faults: what, in which order, and as a function of the seed and of what is stored."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from runner.driver.poison_plan import (
    DRIFTS_SECONDS,
    LITERALS,
    MAX_KEYS,
    STORAGE_FAULTS,
    SYNTHETIC_KEYS,
    Snapshot,
    plan,
)

CART = json.dumps({"items": [1, 2], "total": 20, "open": True})
STORED = Snapshot({"cart": CART, "theme": "dark", "n": "1"}, {"step": "[1]"})
SEEDS = range(300)


def plans(snapshot: Snapshot):
    return [plan(random.Random(seed), snapshot) for seed in SEEDS]


def storage(faults):
    return [fault for fault in faults if fault.fault_type in STORAGE_FAULTS]


def test_storage_comes_first_then_the_clock_the_quota_and_the_reload():
    for faults in plans(STORED):
        kinds = [fault.fault_type for fault in faults]
        assert kinds[-3:] == ["clock_drift", "quota_exceeded", "poisoned_reload"]
        assert len(kinds) > 3
        assert set(kinds[:-3]) <= set(STORAGE_FAULTS)
        assert faults[-3].offset_ms in {seconds * 1000 for seconds in DRIFTS_SECONDS}


def test_each_key_is_chosen_half_of_the_time_and_every_kind_occurs():
    counts = Counter(fault.key for faults in plans(STORED) for fault in storage(faults))
    assert set(counts) == {"cart", "theme", "n", "step"}
    assert all(count / len(SEEDS) == pytest.approx(0.53, abs=0.12) for count in counts.values())
    assert {fault.fault_type for faults in plans(STORED) for fault in storage(faults)} == set(STORAGE_FAULTS)


def test_an_empty_local_storage_gets_one_usual_key():
    for faults in plans(Snapshot()):
        (fault,) = storage(faults)
        assert (fault.storage_area, fault.original_value) == ("localStorage", None)
        assert fault.key in SYNTHETIC_KEYS


def test_every_value_is_another_than_before_and_of_its_kind():
    for faults in plans(STORED):
        for fault in storage(faults):
            original = {**STORED.local, **STORED.session}[fault.key]
            assert fault.injected_value != original
            assert fault.original_value == original[:120]
            if fault.fault_type == "invalid_literal":
                assert fault.injected_value in LITERALS
            elif fault.fault_type == "truncated_json":
                with pytest.raises(ValueError):
                    json.loads(fault.injected_value)
            elif fault.fault_type == "schema_rot" and fault.key == "cart":
                left = json.loads(fault.injected_value)
                assert set(left) < {"items", "total", "open"}
                assert all(left[name] != json.loads(CART)[name] for name in left)
            else:
                json.loads(fault.injected_value)


def test_the_order_of_the_storage_does_not_matter():
    turned = Snapshot(dict(reversed(STORED.local.items())), STORED.session)
    assert plans(turned) == plans(STORED)


def test_a_page_with_a_thousand_keys_is_poisoned_in_the_first_ones():
    many = Snapshot({f"k{number:04}": "1" for number in range(1000)})
    assert all(len(storage(faults)) <= MAX_KEYS for faults in plans(many))
