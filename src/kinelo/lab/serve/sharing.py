"""The address of a lab as a QR code, for those who sit in the same room."""

from __future__ import annotations

import io


def code_as_text(address: str) -> str:
    """The code in the characters of a terminal."""
    import segno

    out = io.StringIO()
    segno.make_qr(address).terminal(out, border=2, compact=True)
    return out.getvalue()


def code_as_svg(address: str) -> bytes:
    """The code as a picture, dark on light whatever the colours of the page."""
    import segno

    out = io.BytesIO()
    segno.make_qr(address).save(out, kind="svg", scale=8, dark="#000", light="#fff", omitsize=True)
    return out.getvalue()
