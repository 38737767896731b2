"""``get_context``: what somebody needs to answer a question, within a budget of time and size, with where it stands.

Owns putting together what resolution, search, code index and knowledge documents find. Each of them finds by itself.
"""
