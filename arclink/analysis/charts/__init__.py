"""Charts in SVG, for pages of the service and for reports: positions on an axis, bars, labels."""
