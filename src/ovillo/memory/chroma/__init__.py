"""A Chroma server as a second index of memories, by meaning: optional, never waited for, made anew from the store at any time."""
