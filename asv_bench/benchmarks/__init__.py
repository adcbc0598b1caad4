"""Benchmarks; a file for each part of the package, which says what module moves it.

``track_`` counters (states, nodes, bytes) come out the same on every run and are the first thing to compare; times want a quiet machine.
"""
