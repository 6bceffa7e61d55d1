"""Runs a notebook: redsi_notebook.py SOURCE TARGET writes the executed copy and, where nbconvert
is installed, an HTML page of it beside the copy."""

import os
import re
import sys
import tempfile

try:
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
    import ipykernel  # what runs the cells
except ImportError as e:
    sys.exit(f"{sys.executable} cannot run notebooks: it has no {e.name}. Add nbclient and ipykernel to its environment")

source, target = sys.argv[1:]
folder = os.path.dirname(source) or "."
book = nbformat.read(source, as_version=4)
if book.nbformat_minor >= 5:
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number}"  # one that is missing would be drawn at random
for cell in book.cells:
    cell.metadata.pop("execution", None)  # times of an earlier run
# Printed text arrives in pieces that are cut by the clock; coalesced, it is one text.
client = NotebookClient(
    book, timeout=None, kernel_name="python3", record_timing=False, coalesce_streams=True,
    resources={"metadata": {"path": folder}},
)
client.create_kernel_manager()
sockets = os.path.join(tempfile.gettempdir(), "kernel")
if os.name == "posix" and len(sockets) < 90:  # the path of a socket may have some 100 bytes
    client.km.transport, client.km.ip = "ipc", sockets
failed = ""
try:
    client.execute()
except CellExecutionError as e:
    failed = str(e)
for cell in book.cells:  # what fails in %%capture or %run is shown, and the kernel goes on
    for output in cell.get("outputs", []) if "raises-exception" not in cell.metadata.get("tags", []) else []:
        if output.output_type == "error":
            failed = failed or "\n".join(["With the tag raises-exception this cell may fail:", *output.traceback])
if failed:
    said = re.sub(r"\x1b\[[0-9;]*m", "", failed)
    lacks = re.search(r"FileNotFoundError: .*'([^'\n]+)'", said)
    if lacks and os.path.exists(lacks[1]) and not os.path.exists(os.path.join(folder, lacks[1])):
        said += f"\nA notebook runs in its own folder, as in Jupyter: there {lacks[1]} is {os.path.relpath(lacks[1], folder)}"
    sys.exit(said)
os.makedirs(os.path.dirname(target), exist_ok=True)
nbformat.write(book, target)
try:
    from nbconvert import HTMLExporter
except ImportError:
    sys.exit(0)
stem = os.path.splitext(os.path.basename(target))[0]
page, _ = HTMLExporter(embed_images=True).from_notebook_node(book, {"metadata": {"name": stem, "path": folder}})
with open(os.path.splitext(target)[0] + ".html", "w", encoding="utf-8") as out:
    out.write(page)
