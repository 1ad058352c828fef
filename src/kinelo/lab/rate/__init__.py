"""The Rate tab: a visitor's league, read, rated and checked."""
