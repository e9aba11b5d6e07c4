"""Run the job `MapPages` from a checkout: ``python jobs/map_pages.py -r hadoop …``."""

from arclink.jobs.map_pages import MapPages

if __name__ == "__main__":
    MapPages.run()
