"""The numbers of HPACK (RFC 7541, 5.1)."""


def integer(number, bits, first=0):
    """An integer of HPACK."""
    most = (1 << bits) - 1
    if number < most:
        return bytes([first | number])
    found, number = [first | most], number - most
    while number >= 128:
        found.append(number % 128 | 128)
        number //= 128
    return bytes(found + [number])
