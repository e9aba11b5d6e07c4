"""Run the job `FilterCaptures` from a checkout: ``python jobs/filter_captures.py -r hadoop …``."""

from arclink.jobs.filter_captures import FilterCaptures

if __name__ == "__main__":
    FilterCaptures.run()
