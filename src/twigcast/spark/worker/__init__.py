"""The work of Spark's workers, in plain Python over Arrow batches; nothing here knows Spark."""
