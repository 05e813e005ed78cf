"""Benchmarks: ratios of ours against what people would use instead, measured interleaved in one run."""
