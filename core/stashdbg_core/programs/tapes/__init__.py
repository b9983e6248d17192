"""What answers a program's calls: by recording them, or from a recording."""
