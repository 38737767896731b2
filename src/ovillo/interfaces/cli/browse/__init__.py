"""``ovillo browse``: a full screen to find and read sessions.

Each module owns one thing: ``terminal`` the terminal, ``keys`` what was typed, ``rows`` text in rows of a width, ``finding`` what
is asked and answered, ``errands`` work beside the screen, ``reading`` one session, ``view`` what is shown now and what a key does to
it, ``drawing`` the rows of the whole screen, ``choices`` what may be chosen from a list, ``clipboard`` copying, ``app`` the loop.
Nothing outside imports from here but the command.
"""
