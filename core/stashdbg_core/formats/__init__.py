"""Files of other tools as recordings: detection by content, and one module a format.

A format is a ``Format`` (``format.py``) named in ``registry.py``; its reader takes a ``ForeignSource`` and tells a
``RunSink`` what it finds. Everything a reader hands over is masked, shared and numbered by the sink; nothing in a file
is ever executed.
"""
