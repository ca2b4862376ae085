"""Rules as ValidatingAdmissionPolicies: what the API server itself can refuse.

What a rule refuses is written here once more, in CEL: a file `cel/<rule>.yaml` for each rule that can be decided from
one object and the pools. Everything else (id, severity, text) comes from the rule. A test on the real API
server holds both to the same verdict about every example of the rule. docs/decisions/0016-admission.md says why it
is built so.
"""

from aksgpu.reporters.admission.objects import Mode, Names, binding, policy
from aksgpu.reporters.admission.parameters import pool_data
from aksgpu.reporters.admission.templates import covered
from aksgpu.reporters.admission.text import text

__all__ = ["Mode", "Names", "binding", "covered", "policy", "pool_data", "text"]
