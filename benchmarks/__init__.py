"""Measurements that are tests: each names its workload, its engines and the right answer.

    definitions.py   what is measured, and how many matches there must be
    workloads.py     the expressions and documents of a definition
    engines.py       the ways to match them, in process
    spark_engines.py the same on Spark
    measure.py       one engine on one definition, in a process of its own
    report.py        medians, ratios, the table and the dated record
    __main__.py      `make bench`

METHOD.md says how we measure and where we may fool ourselves.
"""
