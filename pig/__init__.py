"""Questions in Pig Latin, and the scripts that they stream rows through."""
