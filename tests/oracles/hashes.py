"""The hashes in whole numbers, cut to 64 bits by hand."""

_WORD = 2**64 - 1


def hash_integer(value: int) -> int:
    """The finaliser of splitmix64."""
    bits = (value + 0x9E3779B97F4A7C15) & _WORD
    bits = ((bits ^ bits >> 30) * 0xBF58476D1CE4E5B9) & _WORD
    bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) & _WORD
    return bits ^ bits >> 31


def hash_bytes(text: bytes) -> int:
    """FNV-1a, scrambled."""
    bits = 0xCBF29CE484222325
    for byte in text:
        bits = ((bits ^ byte) * 0x100000001B3) & _WORD
    return bits ^ bits >> 29


def mix(left: int, right: int) -> int:
    """Two hashes as one."""
    return hash_integer((left * 31 + right) & _WORD)
