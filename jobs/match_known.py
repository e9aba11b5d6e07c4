"""Run the job `MatchKnown` from a checkout: ``python jobs/match_known.py -r hadoop …``."""

from arclink.jobs.match_known import MatchKnown

if __name__ == "__main__":
    MatchKnown.run()
