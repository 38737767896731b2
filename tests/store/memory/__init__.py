"""A second store, in dictionaries: slow, short, and kept to the protocol by the same suites as the first.

It shows that protocol and suites need nothing of SQLite. It is no part of the program.
"""
