"""The kinetic equation on a graphics processor."""
