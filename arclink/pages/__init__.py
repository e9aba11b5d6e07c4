"""Captures as pages: which record holds a capture, and its status, headers, body and text."""
