"""Dies of a real SIGSEGV: reads address 0."""

import ctypes

ctypes.string_at(0)
