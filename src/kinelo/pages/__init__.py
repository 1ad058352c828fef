"""Pages to share: ratings, an audit or a diagnosis in one HTML file that needs nothing beside it."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.pages.page import share_page

_MODULE_OF = modules_of(
    {
        "pages.page": ("share_page",),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
