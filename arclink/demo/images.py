"""Images of one pixel, each with distinct bytes."""


def gif(comment: str) -> bytes:
    """Return a GIF of one pixel that holds ``comment`` (GIF89a, 24), up to 255 bytes of it."""
    note = comment.encode()[:255]
    head = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"
    drawing = b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b"
    return head + b"\x21\xfe" + bytes([len(note)]) + note + b"\x00" + drawing
