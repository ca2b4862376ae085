"""The mandatory pack: the rules of severity error."""

from pulumi_policy import PolicyPack

from aksgpu.packs import guardrails

PolicyPack(name="aksgpu-guardrails", policies=guardrails())
