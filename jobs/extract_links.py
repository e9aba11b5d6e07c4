"""Run the job `ExtractLinks` from a checkout: ``python jobs/extract_links.py -r hadoop …``."""

from arclink.jobs.extract_links import ExtractLinks

if __name__ == "__main__":
    ExtractLinks.run()
