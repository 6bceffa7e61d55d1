from run_node import run
from spaceflights.pipelines.reporting import create_pipeline

run(create_pipeline())
