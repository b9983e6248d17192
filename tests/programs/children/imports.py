"""How modules may come to be loaded while hooks wait for them."""
# ruff: noqa: E402, F401, I001 - the order is what matters

import importlib
import importlib.util
import os
import sys
import tempfile

from stash_child import imports

patched = []
folder = tempfile.mkdtemp()
sys.path.insert(0, folder)
for name in ("plain", "lazy", "late", "failing", "broken", "there"):
    with open(os.path.join(folder, name + ".py"), "w") as file:
        file.write("raise ValueError\n" if name == "broken" else "value = 1\n")


def patch(module):
    patched.append((module.__name__, module.value))
    module.value = 2


import there

for name in ("plain", "lazy", "broken", "there", "never", "json.decoder"):
    imports.when_imported(name, (lambda module: patched.append(module.__name__)) if "." in name else patch)
imports.when_imported("failing", lambda module: 1 / 0)
import json
import plain
import plain as again

print(patched, plain.value, type(plain.__spec__.loader).__name__, "exec_module" in vars(plain.__spec__.loader))
print(importlib.reload(plain).value, patched[-1], again is plain)


def load_lazily(name):
    spec = importlib.util.find_spec(name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


lazy, late = load_lazily("lazy"), load_lazily("late")
imports.when_imported("late", patch)
print([name for name in ("lazy", "late") if (name, 1) in patched], lazy.value, late.value)
import failing

print(failing.value)
for name in ("broken", "never"):
    try:
        importlib.import_module(name)
    except (ValueError, ImportError) as error:
        print(type(error).__name__)
