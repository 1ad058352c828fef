"""Processors, memory, devices, atomic files, progress, worker processes."""
