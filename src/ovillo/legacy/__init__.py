"""Migrations from earlier systems: what they left on disk is read, and taken over once.

Owns the old formats (facts: docs/reference/migrations.md). Puts nothing down itself: what was read goes through a
``Target``, so that the same checks, masks and limits hold as for everything else.
"""
