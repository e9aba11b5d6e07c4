"""Run the job `RankPages` from a checkout: ``python jobs/rank_pages.py -r hadoop …``."""

from arclink.jobs.rank_pages import RankPages

if __name__ == "__main__":
    RankPages.run()
