"""The advisory pack: warnings and information."""

from pulumi_policy import PolicyPack

from aksgpu.packs import advice

PolicyPack(name="aksgpu-advice", policies=advice())
