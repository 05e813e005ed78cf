"""Takes memory until it is killed for it."""

held = []
while True:
    held.append(bytearray(16 << 20))
