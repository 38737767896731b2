"""Knowledge documents: chosen Markdown files as a base of facts that is quoted with its place, or says that it knows nothing.

Owns what v5 was: virtual chunks, thresholds by type of question, abstention, the audit line, the container. How it is done
and where the figures come from: docs/explanation/knowledge.md.
"""

from ovillo.memory.knowledge.service import Knowledge

__all__ = ["Knowledge"]
