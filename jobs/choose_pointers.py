"""Run the job `ChoosePointers` from a checkout: ``python jobs/choose_pointers.py -r hadoop …``."""

from arclink.jobs.choose_pointers import ChoosePointers

if __name__ == "__main__":
    ChoosePointers.run()
