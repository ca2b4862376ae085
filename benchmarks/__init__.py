"""Measured promises, as ratios of two things timed in one run; never part of the tests."""
