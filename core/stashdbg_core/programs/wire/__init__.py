"""The protocol between a program and its recorder: the socket, its frames, its messages."""
