"""Measurements that are tests: each names its workload, its engines and the right answer.

    definitions.py   what is measured, how many matches there must be, which bars are meant
                     (definition.py: what each has; network_definitions.py: those of networks,
                     spark_definitions.py and others: those of the pipeline on Spark)
    bars.py          a figure, the bound it is meant to keep, and whether it did
    workloads.py     the expressions and documents of a definition
    engines.py       the ways to match them, in process
    measure.py       one engine on one definition, in a process of its own; how, by its kind:
      race.py          expressions against documents, seen before and not
      large.py         one large document
      changes.py       subscriptions that come and go
      links.py         which links have a match
      covering.py      what covers a pattern, and what it covers
      tree_sizes.py    how much XNET's factorization tree shares
      deciding.py      where a router sends a document, beside the bare matcher
      subscribing.py   many subscriptions to a network of brokers
      simulation.py    one story in simulated time under every strategy
      shards.py        which of 16 shards documents reach (shard_definitions.py)
      disseminating.py the pipeline on Spark through one broker and through many
      routes.py        what brokers ask of each other, on Spark and without
      streaming.py     small batches of a stream on Spark, beside its own floor
      programs.py      `match` and `run` from call to exit, start-up included
      dumps.py         records of a large file on Spark, beside the same records in a table
      on_spark.py      the same documents on Spark (spark_engines.py: the ways to match them there)
    report.py        medians, ratios, the table and the dated record
    overview.py      all records at a glance, and the table of the README
    __main__.py      `make bench`

METHOD.md says how we measure and where we may fool ourselves.
"""
