"""Widgets: line views over lazy data; they hold view state and nothing else."""
