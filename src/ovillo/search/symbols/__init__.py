"""Finding definitions by what they do, in the words of four languages.

Owns the way from a question to ranked definitions of the code index. Names as they are written are the code index's own.
"""
