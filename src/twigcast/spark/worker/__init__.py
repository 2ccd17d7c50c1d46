"""What workers do, in plain Python over Arrow batches; nothing here knows Spark."""
