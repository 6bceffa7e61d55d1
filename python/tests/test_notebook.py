"""Executes examples/notebook/redsi.ipynb in a kernel, with the program redsi that REDSI names."""

import importlib.util
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

NOTEBOOK = Path(__file__).resolve().parent.parent.parent / "examples" / "notebook" / "redsi.ipynb"


@unittest.skipUnless(importlib.util.find_spec("nbclient"), "needs nbclient and ipykernel")
class TestNotebook(unittest.TestCase):
    def test_it_runs(self):
        import nbclient
        import nbformat

        class Client(nbclient.NotebookClient):
            updates = []

            def process_message(self, msg, cell, cell_index):
                if msg["msg_type"] == "update_display_data":
                    self.updates.append((cell_index, msg["content"]["data"]["text/plain"]))
                return super().process_message(msg, cell, cell_index)

        book = nbformat.read(NOTEBOOK, 4)
        self.assertEqual([c for c in book.cells if c.get("outputs") or c.get("execution_count")], [])
        self.assertEqual(len(book.cells), 10)
        # TMPDIR is its own: redsi would say, on standard error, that it removed what other programs had left in the usual one
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, TMPDIR=folder):
            Client(book, timeout=120, resources={"metadata": {"path": folder}}).execute()

        def text(cell, mime="text/plain"):
            return "\n".join(o.get("text") or o["data"].get(mime, "") for o in book.cells[cell].outputs)

        self.assertIn("17 steps: 0 hit, 15 to run, 2 waiting for others", text(2, "text/markdown"))
        self.assertIn("has never run here", text(2, "text/markdown"))
        for cell, steps, ran in ((3, 17, 17), (6, 26, 11)):
            updates = [t for at, t in Client.updates if at == cell]
            self.assertGreater(len(updates), 2)  # begun, states, and the end
            shown = book.cells[cell].outputs[0]["data"]  # the first display, as it was left
            self.assertIn(f'<progress value="{steps}" max="{steps}">', shown["text/html"])
            self.assertTrue(shown["text/plain"].startswith(f"{steps} of {steps} steps: "), shown)
            self.assertRegex(text(cell), rf"redsi.Reproduction \S+: {steps - ran} hit, {ran} ran")
            self.assertEqual([o for o in book.cells[cell].outputs if o.output_type == "stream"], [])
        self.assertIn("25600", text(4))
        self.assertEqual((text(5).count("has never run here"), text(5).count("maybe")), (9, 2))
        self.assertIn("<svg", text(7, "image/svg+xml"))
        self.assertEqual(text(8).count("step.command.estimate"), 8)
        self.assertEqual(text(9).count("falls"), 2)


if __name__ == "__main__":
    unittest.main()
