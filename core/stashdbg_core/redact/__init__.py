"""Secrets out of what is stored: rules by name and by shape, placeholders, scans."""

from __future__ import annotations

from stashdbg_core.redact.names import sensitive_kind
from stashdbg_core.redact.placeholders import normalise_placeholders
from stashdbg_core.redact.redactor import Finding, Redactor
from stashdbg_core.redact.rules import PII, SECRETS, Rule

__all__ = ["PII", "SECRETS", "Finding", "Redactor", "Rule", "normalise_placeholders", "sensitive_kind"]
