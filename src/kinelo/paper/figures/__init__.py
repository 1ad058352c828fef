"""The figures of the report: ``NAME.toml`` declares the runs of one, ``NAME.py`` measures, draws and checks them."""
