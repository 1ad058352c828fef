"""Import every module of Kinelo."""

import pkgutil
from importlib import import_module

import kinelo

names = [module.name for module in pkgutil.walk_packages(kinelo.__path__, "kinelo.")]
for name in names:
    if not name.endswith("__main__"):
        import_module(name)
print(f"{len(names)} modules imported.")
