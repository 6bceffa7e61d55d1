"""Checks that redsi knows the words of each container of a Kubernetes manifest whose image is IMAGE.

An image of the Dockerfile begins with `redsi worker`. REDSI names the program.
"""
import os
import subprocess
import sys

import yaml

redsi = os.environ["REDSI"]
with open(sys.argv[1], encoding="utf-8") as f:
    jobs = [x for x in yaml.safe_load_all(f) if x["kind"] == "Job"]
containers = [c for j in jobs for c in j["spec"]["template"]["spec"]["containers"] if c["image"] == "IMAGE"]
assert containers, "no container has IMAGE"
for c in containers:
    words = c["command"][1:] if "command" in c else ["worker", *c["args"]]
    subprocess.run([redsi, *words, "--help"], check=True, stdout=subprocess.DEVNULL)
