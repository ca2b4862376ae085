"""Turns what rules say into something that people or programs read: text, files, admission policies."""
