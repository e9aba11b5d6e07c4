"""Questions about pages, sites and archives, each declared once and answered everywhere."""
