"""Run the job `InvertLinks` from a checkout: ``python jobs/invert_links.py -r hadoop …``."""

from arclink.jobs.invert_links import InvertLinks

if __name__ == "__main__":
    InvertLinks.run()
