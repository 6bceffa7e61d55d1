from run_node import run
from spaceflights.pipelines.data_processing import create_pipeline

run(create_pipeline())
