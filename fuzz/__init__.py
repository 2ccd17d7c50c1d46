"""Fuzzers: random and damaged input, compared with a second opinion, for as long as you like.

    __main__.py      `make fuzz`: what the command line asks for
    runner.py        targets take turns; faults are repeated, shrunk, filed and counted
    watched.py       a child process with a watchdog: whoever hangs or dies is a fault, too
    child.py         what runs in that process: case after case
    cases.py         a case by its number, and as a file
    shrinking.py     a smaller case that still fails
    target.py        what a target is, and what a fault is
    targets/         one module each: how cases are made, and what must hold
    mutation.py      damaged bytes
    xml_text.py      documents with everything that XML has, right and wrong
    drawing.py       values of the tests' Hypothesis strategies, drawn by a seed
    shared.py        real documents and expressions, where they lie beside the checkout
    corpus/          cases that once failed; the tests replay them

METHOD.md says what each target compares, and what a run does not show.
"""
