"""ovillo: a local-first memory for coding agents.

Owns nothing but the version; every package below states what it owns.
"""

__version__ = "0.1.0"
