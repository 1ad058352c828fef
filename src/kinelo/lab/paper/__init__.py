"""The Paper tab: the reproduction, shown and made."""
