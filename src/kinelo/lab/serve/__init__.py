"""The lab as a server: who may talk to it, its pages, and the processes that work for them."""
