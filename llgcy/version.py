"""The version of the package; everything else that shows it reads it from here."""

__version__ = "0.1.0"
