"""What a worker sends back of a round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from twigcast.files.writing.versioned_files import write_versioned
from twigcast.routing.static.route_computation import SweepStep
from twigcast.routing.strategy import (
    covering,
)
from twigcast.spark.worker.route_round import OWN, PLAN, Round, plan_bytes, run_steps


def test_a_worker_sends_back_numbers_of_what_was_received_and_texts_of_what_is_new(
    tmp_path: Path,
) -> None:
    texts = pa.array(["/a/b[@x=1]", "/a", "/a/c", "/b"], pa.string())
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), texts)
    batch = pa.RecordBatch.from_arrays(
        [pa.array([1] * 4, pa.int32()), pa.array([OWN, 0, 2, 2], pa.int32()), codes], schema=PLAN
    )
    plan = write_versioned(tmp_path, stem="plan", ending="", content=plan_bytes([batch])).path
    told = Round(
        covering(), ("west", "here", "east"), ((SweepStep("here", ("west", "east")),),), {}
    )
    (said,) = run_steps([pa.RecordBatch.from_pydict({"id": [0]})], str(plan), told)
    assert said.column("broker").to_pylist() == [1, 1]
    assert said.column("neighbour").to_pylist() == [0, 2]
    known = [
        np.frombuffer(each or b"", np.int32).tolist() for each in said.column("known").to_pylist()
    ]
    assert known == [[2, 3], [1]]
    assert said.column("new").to_pylist() == [["/a[b[@x = 1]]"], []]
