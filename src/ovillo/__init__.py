"""ovillo: a local-first memory for coding agents.

Owns nothing but the version; every package below states what it owns. Importing it silences what libraries report to
their makers (``ovillo.model.quiet``): this is the one place that comes before all of them.
"""

from ovillo.model.quiet import stop_reports

__version__ = "0.1.0"

stop_reports()
