"""Readers: something real turned into facts. No rule lives here."""
