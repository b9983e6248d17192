"""OpenTelemetry spans of model calls, in the dialects of several conventions."""
