"""The columns of every table are written down."""

from __future__ import annotations

from twigcast.spark.storage.tables import TABLES


def test_every_column_says_what_it_holds() -> None:
    for name, table in TABLES.items():
        for column in table:
            assert len(column.metadata["comment"]) > 5, f"{name}.{column.name}"


def test_the_tables_have_the_documented_columns() -> None:
    assert TABLES["deliveries"].simpleString() == (
        "struct<document:string,document_hash:string,subscription:string,"
        "subscriber:string,broker:string,hops:int>"
    )
    assert TABLES["traffic"].simpleString() == (
        "struct<broker:string,neighbour:string,documents:bigint,bytes:bigint,"
        "needless:bigint,needless_bytes:bigint>"
    )
    assert TABLES["routes"].simpleString() == (
        "struct<broker:string,neighbour:string,pattern:string>"
    )
    assert TABLES["dead_letters"].simpleString() == (
        "struct<document:string,subscription:string,stage:string,reason:string,line:int,column:int>"
    )
    assert TABLES["rejected"].simpleString() == (
        "struct<id:string,line:int,xpath:string,reason:string,column:int>"
    )
    assert {"documents", "deliveries", "dead_letters", "rejected", "matcher_version"} <= set(
        TABLES["metrics"].names
    )
