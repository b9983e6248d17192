"""Recordings at rest: reading them lazily, writing them atomically, journals, and the sharing of repeated pieces."""
