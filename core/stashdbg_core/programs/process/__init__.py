"""Processes of programs: which command, in what environment, started how, and what it prints."""
