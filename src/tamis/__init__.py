"""tamis: decide which columns of a wide table to keep, without labels."""

from importlib.metadata import version

import lazy_loader

# scikit-learn takes seconds to import: `tamis --help` does not wait for it. The names are those of
# __init__.pyi, modules among them, and are imported when they are first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ = [*__all__, "__version__"]
__version__ = version("tamis")
