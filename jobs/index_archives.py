"""Run the job `IndexArchives` from a checkout: ``python jobs/index_archives.py -r hadoop …``."""

from arclink.jobs.index_archives import IndexArchives

if __name__ == "__main__":
    IndexArchives.run()
