"""The five layers of the Continuity Protocol (section 3): short-term, working, episodic and semantic memory; procedures stand in
``ovillo.memory.procedures``.

Every layer masks secrets before anything is stored and keeps where it came from.
"""
