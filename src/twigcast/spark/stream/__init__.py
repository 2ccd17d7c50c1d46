"""The pipeline as a stream: sources, versions, checkpoints, compaction."""
