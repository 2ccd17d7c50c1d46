"""Where tables, documents and subscriptions are read and written."""
