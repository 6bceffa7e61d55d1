"""redsi.run and redsi.plan, by a stand-in for the program that says what a test tells it to."""

import contextlib
import hashlib
import importlib.util
import io
import json
import os
import shutil
import stat
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import redsi
from redsi import display, program, reproduction, store as stores

GOLDEN = Path(__file__).parent / "store"
RUN = "20260102T030405Z-00000001"
HEAD = {"format": "redsi-progress/1"}
BEGUN = {**HEAD, "event": "begun", "run": RUN, "url": "http://127.0.0.1:1/run", "news": [f"run {RUN}"]}
NO_HOME = mock.patch.object(Path, "home", side_effect=RuntimeError("no home"))
PANDAS = importlib.util.find_spec("pandas") is not None


def state(total=2, done=0, steps=(), news=(), block=(), **counts):
    return {**HEAD, "event": "state", "total": total, "done": done, "counts": counts, "steps": list(steps), "news": list(news), "block": list(block)}


def column(frame, name):
    return [None if v != v else v for v in frame[name]] if PANDAS else frame.column(name).to_pylist()  # pandas 3: NaN


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        self.project = self.dir / "a project"
        self.project.mkdir()

    def stand_in(self, code):
        """A program that notes its arguments and folder, and then does what code says."""
        path = self.dir / "redsi"
        head = f"""#!{sys.executable}
import json, os, signal, sys
args = sys.argv[1:]
if "--var-file" in args:
    at = args.index("--var-file")
    args[at + 1] = json.load(open(args[at + 1]))
if "--markdown" in args:
    at = args.index("--markdown")
    open(args[at + 1], "w").write("**a plan**")
    args[at + 1] = "a file"
with open({str(self.dir / "called")!r}, "w") as out:
    json.dump([os.getcwd(), *args], out)
"""
        path.write_text(head + code)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        patch = mock.patch.dict(os.environ, REDSI=str(path))
        patch.start()
        self.addCleanup(patch.stop)

    def says(self, events=(), printed="", code=0):
        lines = [e if isinstance(e, str) else json.dumps(e) for e in events]
        self.stand_in(f"sys.stderr.write({''.join(x + chr(10) for x in lines)!r})\nprint({printed if isinstance(printed, str) else json.dumps(printed)!r})\nsys.exit({code})")

    def summary(self, **more):
        """Of a run of the golden store; its table's file is in the project."""
        result = redsi.open(GOLDEN, cache=self.dir).result("table.counts")
        raw = result.read("json")
        (self.project / "counts.json").write_bytes(raw)
        rendered = [{"address": "table.counts", "path": f"counts.{ext}", "digest": result.output(ext).digest} for ext in ("csv", "json")]
        return {"store": f"file://{GOLDEN}", "run": RUN, "hit": 1, "ran": 2, "took_s": 1.5, "rendered": rendered, **more}

    def called(self):
        return json.loads((self.dir / "called").read_text())


class TestArguments(unittest.TestCase):
    def test_values(self):
        class Number:  # as NumPy has them
            def item(self):
                return 3

        for value, want in [
            ("${x} \"q\"", "${x} \"q\""), (True, True), (7, 7), (0.5, 0.5), (Number(), 3), (["ü", 1, None], ["ü", 1, None]), (("a",), ["a"]),
            ({"a b": [True], "n": {}, "f": [Number()]}, {"a b": [True], "n": {}, "f": [3]}),
        ]:  # fmt: skip
            self.assertEqual(json.loads(reproduction.variables({"v": value, "none": None, "w": 1})), {"v": want, "w": 1})

    def test_what_is_no_value(self):
        for value in (float("nan"), [float("inf")], object(), [b"x"], {1, 2}, "\ud800"):
            with self.assertRaisesRegex(redsi.Error, "variable v: "):
                reproduction.variables({"v": value})

    def test_the_rest(self):
        self.assertEqual(reproduction.flags("table.a", store=Path("s")), ["--target", "table.a", "--store", "s"])
        self.assertEqual(reproduction.flags(["a", "b"], file=None), ["--target", "a", "--target", "b"])


class TestRun(Case):
    def run_quietly(self, *args, **more):
        return redsi.run(*args, project=self.project, quiet=True, **more)

    def test_result(self):
        self.says([BEGUN, state(ran=2)], self.summary())
        r = self.run_quietly("table.counts", {"n": 1}, out="o")
        self.assertEqual(self.called(), [str(self.project.resolve()), "run", "--json", "--progress", "json", "--target", "table.counts",
                                         "--out", "o", "--var-file", {"n": 1}])  # fmt: skip
        self.assertEqual((r.run, r.hit, r.ran, r.failed, r.skipped, r.took), (RUN, 1, 2, 0, 0, 1.5))
        self.assertEqual(repr(r), f"<redsi.Reproduction {RUN}: 1 hit, 2 ran, 0:00:02>")
        self.assertEqual((list(r.tables), len(r.figures)), (["counts"], 0))
        self.assertEqual(column(r.tables["counts"], "row"), ["all", "both"])
        self.assertEqual(r.files, {"table.counts": [self.project / "counts.csv", self.project / "counts.json"]})
        self.assertEqual(r.store.runs(), [RUN])

    def test_file_of_another_run(self):
        self.says([], self.summary())
        (self.project / "counts.json").write_text('{"rows": []}')
        self.assertEqual(column(self.run_quietly().tables["counts"], "row"), ["all", "both"])

    def test_picture(self):
        rendered = []
        for name, value in (("f.json", {"series": [{"id": "s", "points": [{"id": "p", "x": {"value": 1}, "y": {"value": 2}}]}]}), ("f.vl.json", {"mark": "bar"})):
            raw = json.dumps(value).encode()
            (self.project / name).write_bytes(raw)
            rendered.append({"address": "figure.f", "path": name, "digest": "sha256:" + hashlib.sha256(raw).hexdigest()})
        self.says([], self.summary(rendered=rendered))
        r = self.run_quietly()
        self.assertEqual(column(r.figures["f"], "y"), [2])
        self.assertEqual([p.name for p in r.files["figure.f"]], ["f.json", "f.vl.json"])

    def test_nothing_to_do(self):
        key = redsi.open(GOLDEN, cache=self.dir).result("table.counts").key
        summary = self.summary(keys={"table.counts": key})
        del summary["run"]
        self.says([], summary)
        r = self.run_quietly()
        self.assertEqual((r.run, r.store.steps()), (None, ["table.counts"]))
        self.assertIn("nothing to do", repr(r))

    def test_failed_steps(self):
        bad = {"address": "step.command.fit", "status": "failed", "error": "exited with code 3\x1b[2J"}
        again = {"address": "step.command.ok", "status": "failed", "error": "lost"}
        events = ["1 step failed before", BEGUN, state(steps=[bad, again]), state(steps=[{**again, "status": "running"}]), "redsi: 1 of 2 steps failed:", "  why"]
        for code in (1, 2):  # 2: the second program is missing, too
            self.says(events, self.summary(failed=1), code)
            with self.assertRaises(redsi.RunFailed) as caught:
                self.run_quietly()
            self.assertEqual(str(caught.exception), "redsi: 1 of 2 steps failed:\n  why")
            self.assertEqual(caught.exception.steps, {"step.command.fit": "exited with code 3\x1b[2J"})
            self.assertEqual(list(caught.exception.result.tables), ["counts"])
        self.says([BEGUN, "redsi: cancelled"], "", 1)
        with self.assertRaises(redsi.RunFailed) as caught:
            self.run_quietly()
        self.assertEqual((caught.exception.steps, caught.exception.result), ({}, None))

    def test_wrong_input(self):
        for events, printed, want in [
            (["redsi: target 'x' names no step", "usage: redsi run"], "", "redsi: target 'x' names no step\nusage: redsi run"),
            ([], {"diagnostics": [], "text": "Error: Undeclared variable\n  --var:1:1\n\n"}, "Error: Undeclared variable\n  --var:1:1"),
        ]:
            self.says(events, printed, 2)
            for call in (self.run_quietly, lambda: redsi.plan(project=self.project)):
                with self.assertRaises(redsi.Error) as caught:
                    call()
                self.assertEqual((type(caught.exception), str(caught.exception)), (redsi.Error, want))

    def test_another_version(self):
        self.says(["redsi: unknown flag: --progress", "usage: redsi run"], "", 2)
        with self.assertRaisesRegex(redsi.Error, "redsi is not of the version of the package .*: install both together\nredsi: unknown flag: --progress"):
            self.run_quietly()

    def test_file_of_variables_in_errors(self):
        self.stand_in("sys.stderr.write('redsi: ' + sys.argv[sys.argv.index('--var-file') + 1] + ':1:2: no\\n')\nsys.exit(2)")
        with self.assertRaises(redsi.Error) as caught:
            self.run_quietly(vars={"v": 1})
        self.assertEqual(str(caught.exception), "redsi: vars.json:1:2: no")

    def test_died(self):
        self.stand_in("os.kill(os.getpid(), signal.SIGKILL)")
        with self.assertRaisesRegex(redsi.Error, "redsi ended with signal 9 and said nothing") as caught:
            self.run_quietly()
        self.assertIs(type(caught.exception), redsi.Error)

    def test_no_project(self):
        self.says()
        with self.assertRaisesRegex(redsi.NotFound, "nowhere is not a folder"):
            redsi.run(project=self.dir / "nowhere")

    def view(self, raised):
        class Raises(display.View):
            def show(self, event):
                raise raised

        return mock.patch.object(display, "view", Raises)

    def test_interrupt(self):
        self.stand_in(f"""
def stop(*_):
    open({str(self.dir / 'stopped')!r}, "w")
    sys.exit(1)
signal.signal(signal.SIGINT, stop)
sys.stderr.write({json.dumps(BEGUN)!r} + "\\n")
sys.stderr.flush()
while True:
    signal.pause()
""")
        with self.view(KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            redsi.run(project=self.project)
        self.assertTrue((self.dir / "stopped").exists())

    def test_a_view_that_fails_leaves_no_program(self):
        self.stand_in(f"""
try:
    while True:
        os.write(2, ({json.dumps(BEGUN)!r} + "\\n").encode())
except BrokenPipeError:
    open({str(self.dir / 'stopped')!r}, "w")
""")
        with self.view(ValueError("x")), self.assertRaisesRegex(ValueError, "x"):
            redsi.run(project=self.project)
        self.assertTrue((self.dir / "stopped").exists())


class TestViews(Case):
    EVENTS = [
        BEGUN,
        state(done=1, news=["DONE  a"], block=["… b <9 %>", "1 running"], ran=1, running=1),
        {**HEAD, "event": "said", "news": ["cancelling"]},
        state(done=2, steps=[{"address": "b", "status": "failed", "error": "<oh>"}], news=["FAIL  b"], ran=1, failed=1),
    ]

    def lines(self, terminal):
        out = io.StringIO()
        out.isatty = lambda: terminal
        with mock.patch.object(sys, "stderr", out):
            self.says([*self.EVENTS, "a text", "redsi: for the exception"], {}, 1)
            with self.assertRaises(redsi.RunFailed):
                redsi.run(project=self.project)
        return out.getvalue()

    def test_lines(self):
        head = f"run {RUN}\nDONE  a\n"
        self.assertEqual(self.lines(False), head + "cancelling\nFAIL  b\na text\n")
        self.assertEqual(self.lines(True), head + "… b <9 %>\n1 running\n\x1b[2A\x1b[Jcancelling\nFAIL  b\na text\n")

    def test_notebook(self):
        shown = []

        class Handle:
            def update(self, bundle, raw):
                shown.append(bundle)

        def show(bundle, raw, display_id):
            shown.append(bundle)
            return Handle()

        ipython = mock.Mock()
        ipython.get_ipython.return_value.kernel = object()
        with mock.patch.dict(sys.modules, {"IPython": ipython, "IPython.display": mock.Mock(display=show)}), contextlib.redirect_stderr(io.StringIO()) as texts:
            self.says([*self.EVENTS, "a text"], {}, 1)
            with self.assertRaises(redsi.RunFailed):
                redsi.run(project=self.project)
        self.assertEqual(texts.getvalue(), "a text\n")
        self.assertEqual(len(shown), 2 + len(self.EVENTS))
        self.assertEqual(shown[0]["text/plain"], "planning")
        self.assertRegex(shown[2]["text/plain"], r"^1 of 2 steps: 1 ran, 1 running; \d")
        self.assertIn(f'<progress value="1" max="2"></progress> {shown[2]["text/plain"]} <a href="{BEGUN["url"]}">', shown[2]["text/html"])
        self.assertIn("<pre>… b &lt;9 %&gt;\n1 running</pre>", shown[2]["text/html"])
        self.assertIn("1 running\ncancelling</pre>", shown[3]["text/html"])
        self.assertRegex(shown[-1]["text/plain"], r"2 of 2 steps: 1 ran, 1 failed; \d")
        self.assertIn("<pre>b failed: &lt;oh&gt;</pre>", shown[-1]["text/html"])
        self.assertNotIn("href", shown[-1]["text/html"])  # the server has ended

    def test_without_ipython(self):
        with mock.patch.dict(sys.modules, {"IPython": None}):
            self.assertIsInstance(display.view(), display.Lines)


class TestPlan(Case):
    VALUE = {
        "steps": [
            {"address": "step.command.a", "kind": "command", "outcome": "hit", "key": "sha256:1", "took_s": 2.0, "origin": RUN, "file": "p.hcl", "line": 1},
            {"address": "step.command.b", "kind": "command", "outcome": "run", "key": "sha256:2", "reason": "argv|x", "expect_s": 4.5, "file": "p.hcl", "line": 5},
            {"address": "table.t", "kind": "render_table", "outcome": "maybe", "file": "p.hcl", "line": 9},
        ],
        "summary": {"hit": 1, "run": 1, "maybe": 1},
    }  # fmt: skip

    def test_plan(self):
        self.says([], self.VALUE)
        p = redsi.plan("table.t", project=self.project)
        self.assertEqual(self.called()[1:], ["plan", "--json", "--markdown", "a file", "--target", "table.t"])
        self.assertEqual((p.done, p.hit, p.run, p.maybe), (False, 1, 1, 1))
        self.assertEqual(column(p.steps, "outcome"), ["hit", "run", "maybe"])
        self.assertEqual(column(p.steps, "why"), [None, "argv|x", None])
        self.assertEqual(repr(p), "<redsi.Plan 1 to run, 1 maybe, 1 hit>")
        self.assertEqual(p._repr_markdown_(), "**a plan**")

    def test_done(self):
        self.says([], {**self.VALUE, "summary": {"hit": 3, "run": 0, "maybe": 0}})
        p = redsi.plan(project=self.project)
        self.assertEqual((p.done, repr(p)), (True, "<redsi.Plan 0 to run, 0 maybe, 3 hit>"))


class TestProgram(Case):
    def find(self, **env):
        with mock.patch.dict(os.environ, {"PATH": "", "REDSI": "", **env}), mock.patch.object(program, "_folders", lambda: iter([str(self.dir / "bin")])):
            return program.find()

    def test_find(self):
        with self.assertRaisesRegex(redsi.Error, "make wheel"):
            self.find()
        with self.assertRaisesRegex(redsi.Error, "REDSI=/nowhere/redsi: there is no program"):
            self.find(REDSI="/nowhere/redsi")
        for folder in ("path", "bin"):  # that of pip comes first
            (self.dir / folder).mkdir()
            made = self.dir / folder / "redsi"
            made.write_text("")
            made.chmod(0o755)
            self.assertEqual(self.find(PATH=str(self.dir / "path")), str(made))
            self.assertEqual(self.find(REDSI=os.path.relpath(made)), str(made))

    def test_folders_without_home(self):
        with NO_HOME:
            self.assertIn(str(Path(redsi.__file__).resolve().parent.parent / "bin"), list(program._folders()))

    def test_main(self):
        self.says()
        with mock.patch.object(os, "execv") as execv:
            execv.side_effect = OSError("exec format error")
            with contextlib.redirect_stderr(io.StringIO()) as told:
                self.assertEqual(program.main(["plan"]), 2)
        execv.assert_called_once_with(str(self.dir / "redsi"), [str(self.dir / "redsi"), "plan"])
        self.assertEqual(told.getvalue(), "redsi: exec format error\n")


class TestStore(Case):
    def test_no_home(self):
        with NO_HOME, mock.patch.dict(os.environ):
            os.environ.pop("XDG_CACHE_HOME", None)
            self.assertEqual(stat.S_IMODE(stores._cache().stat().st_mode), 0o700)  # nobody else's, whatever lies there
            self.assertEqual(stores._cache(), stores._cache())
            redsi.open(GOLDEN).table("counts")

    def test_address_of_a_folder(self):
        shutil.copytree(GOLDEN, self.project / "store")
        self.assertEqual(redsi.open(f"file://{self.project}/store".replace(" ", "%20"), cache=self.dir).tables(), ["counts"])


if __name__ == "__main__":
    unittest.main()
