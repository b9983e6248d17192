"""Logs of the Model Context Protocol."""
