"""The configuration of a stack: one model is the truth, and every mistake is one clear paragraph."""

from aksgpu.settings.load import SettingsError, load
from aksgpu.settings.model import Settings
from aksgpu.settings.parts import PROJECT

__all__ = ["PROJECT", "Settings", "SettingsError", "load"]
