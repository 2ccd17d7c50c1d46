"""The targets: a module each, whose name is the name of its target, with a ``TARGET``."""
