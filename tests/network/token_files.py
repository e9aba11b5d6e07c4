"""Files of delegation tokens, as Hadoop writes them."""

import base64


def number(value: int) -> bytes:
    """Return a number as ``WritableUtils.writeVInt`` writes it."""
    if value <= 127:
        return bytes([value])
    data = value.to_bytes((value.bit_length() + 7) // 8)
    return (-112 - len(data)).to_bytes(1, signed=True) + data


def sized(data: bytes) -> bytes:
    return number(len(data)) + data


def token(
    kind: str, service: str, identifier: bytes = b"who", password: bytes = b"secret"
) -> bytes:
    return b"".join(map(sized, (identifier, password, kind.encode(), service.encode())))


def token_file(*tokens: bytes) -> bytes:
    return b"HDTS\0" + number(len(tokens)) + b"".join(sized(b"alias") + one for one in tokens)


def text_of(one: bytes) -> str:
    return base64.urlsafe_b64encode(one).decode().rstrip("=")
