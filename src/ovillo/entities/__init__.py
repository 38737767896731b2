"""Entities of sessions: recognising names in what was said and done, keeping where, and telling who speaks of what.

Owns recognition, names and the background tracker. What a name stands for in the code is the code index's; what "that
function" means is ``references``'s.
"""
