"""The guided visit: seven scenes, each one idea with one picture; every number comes from the library."""
