"""The server that runs from login: one file for the system's own manager of services, and the calls that make it act on it.

Owns which managers there are (``systems``), what their files say (``texts``), and putting them in and taking them out again
(``service``). What the server does is ``ovillo serve``'s.
"""
