"""Masking again what stands in the tables. Owns the SQL of ``ovillo.store.protocol.masking``."""
