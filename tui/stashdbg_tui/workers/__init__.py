"""Work off the screen's path; workers post messages and never touch a widget."""
