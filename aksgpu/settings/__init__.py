"""The configuration of a stack: one model is the truth, and every mistake is one clear paragraph."""

from aksgpu.settings.load import SettingsError, load
from aksgpu.settings.model import PROJECT, Settings

__all__ = ["PROJECT", "Settings", "SettingsError", "load"]
