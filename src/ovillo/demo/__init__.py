"""A small made-up history, for machines without agents and for trying things out.

Owns a few stories and writes them the way the clients do, so that the readers read them like any other history.
Nothing here is real: the people, projects and answers are invented. Writes only below the folder it is given.
"""

from ovillo.demo.unpack import demo_environment, unpack

__all__ = ["demo_environment", "unpack"]
