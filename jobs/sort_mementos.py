"""Run the job `SortMementos` from a checkout: ``python jobs/sort_mementos.py -r hadoop …``."""

from arclink.jobs.sort_mementos import SortMementos

if __name__ == "__main__":
    SortMementos.run()
