"""The lab: see ratings move, in the browser."""
