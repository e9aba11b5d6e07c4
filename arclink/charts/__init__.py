"""Charts in SVG, for pages of the service and for reports: places on an axis, bars, labels."""
