from run_node import run
from spaceflights.pipelines.data_science import create_pipeline

run(create_pipeline())
