"""Run the job `LoadGraph` from a checkout: ``python jobs/load_graph.py -r hadoop …``."""

from arclink.jobs.load_graph import LoadGraph

if __name__ == "__main__":
    LoadGraph.run()
