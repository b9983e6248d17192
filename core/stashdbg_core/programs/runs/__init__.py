"""Runs of programs: recorded, replayed, continued from a fork; what they will do, and who may start one."""
