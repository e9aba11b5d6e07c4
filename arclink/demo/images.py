"""Images of one point, each with bytes of its own."""


def gif(comment: str) -> bytes:
    """Return a GIF of one point that holds ``comment`` (GIF89a, 24), which must be below 256 bytes."""
    note = comment.encode()[:255]
    head = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"
    drawing = b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b"
    return head + b"\x21\xfe" + bytes([len(note)]) + note + b"\x00" + drawing
