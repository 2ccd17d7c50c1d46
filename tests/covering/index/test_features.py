"""Features of patterns, by which the cover index finds candidates."""

from __future__ import annotations

import os
import subprocess
import sys


def test_features_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "from twigcast.covering.containment.covers import compiled_form\n"
        "from twigcast.covering.index.features import present_features, required_features\n"
        "from twigcast.language import Pattern\n"
        "made = compiled_form(Pattern('/a//b[@c = \"x\"]/*[text() = 7]/d').condition)\n"
        "print(required_features(made.groups), present_features(made.targets))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1")
    }
    assert len(texts) == 1
