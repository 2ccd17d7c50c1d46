"""Records of a dump: one large document, read as a sequence of small ones.

No I/O: bytes come in as pieces. In reading order:

    selector     which elements are records
    lexer        the little that has to be known of XML's syntax
    native       the kernel, where it is installed
    markup       what counts inside a record
    prolog       the encoding and the DOCTYPE of a dump
    context      what holds at a place in a dump
    writer       the document that a record becomes
    scanner      records cut out, by one who knows the context
    composition  contexts at the beginnings of ranges, found by many at once
"""
