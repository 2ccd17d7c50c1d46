"""The Spark session: Java, start-up, failures, progress."""
