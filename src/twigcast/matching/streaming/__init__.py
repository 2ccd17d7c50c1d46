"""The engine ``streaming``: YFilter's shared automaton, run in document order."""
