"""When one pattern makes another redundant.

In reading order:

    twig                tree patterns as nodes in arrays
    implication         what value tests say about each other
    homomorphism        laying one twig onto another: sound, and quick
    single_paths        exact for single paths
    canonical_models    exact for tree patterns, within a budget
    alternatives        from any condition to twigs
    covers              the answer, by all of these
"""

from twigcast.covering.covers import COVER_BUDGET, Tally, Verdict, covers, decide

__all__ = ["COVER_BUDGET", "Tally", "Verdict", "covers", "decide"]
