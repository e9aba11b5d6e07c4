"""Run the job `JoinContents` from a checkout: ``python jobs/join_contents.py -r hadoop …``."""

from arclink.jobs.join_contents import JoinContents

if __name__ == "__main__":
    JoinContents.run()
