"""What happens when a client calls a hook: told in a line, in time, or not at all.

Owns events, what marks they leave, asking the server of this user, and the form of an answer in each client. What is answered is
``interfaces.hook_answers``'s. A hook's start is most of what it costs, so nothing here imports more than it needs.
"""
