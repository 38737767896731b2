"""A session handed on: what whoever continues it has to know, within a budget of tokens.

One builder (``builder``) for ``recover_context``, hooks and hand-offs; ``written`` is its text.
"""
