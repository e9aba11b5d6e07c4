"""Work that makes, changes and copies stores, declared once for the command line and Python."""
