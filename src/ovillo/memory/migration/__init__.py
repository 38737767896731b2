"""Where things of earlier systems go: taken over by what keeps their kind here.

Keeps ``ovillo.legacy.target.Target``. Ids and times stay, secrets are masked, the limits of each kind hold.
"""

from ovillo.memory.migration.target import MigrationTarget

__all__ = ["MigrationTarget"]
