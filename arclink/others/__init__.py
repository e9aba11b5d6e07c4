"""Other archives: instances of ArcLink, and Wayback Machines."""
