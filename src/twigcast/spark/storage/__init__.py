"""Reading and writing of tables, documents and subscriptions."""
