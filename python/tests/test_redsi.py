"""Reads the store that Go wrote (kinds/outputs_test.go), and copies of it with faults."""

import http.server
import importlib.util
import json
import shutil
import tempfile
import threading
import unittest
from functools import partial
from pathlib import Path
from unittest import mock

import redsi
from redsi import frames, places, records, store as stores

GOLDEN = Path(__file__).parent / "store"
EVALUATE = 'step.evaluate.toy["a b"]'
COLLECTION = 'step.import_corpus.toy["all"]'
PANDAS = importlib.util.find_spec("pandas") is not None


def rows(frame):
    """A frame's rows as dicts, whichever library made it."""
    if PANDAS:
        return [{k: None if v != v else v for k, v in r.items()} for r in frame.astype(object).to_dict("records")]
    return frame.to_pylist()


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)

    def open(self, place=GOLDEN, **options):
        return redsi.open(place, cache=self.dir / "cache", **options)

    def copy(self):
        shutil.copytree(GOLDEN, self.dir / "copy")
        return self.dir / "copy"

    def blob(self, folder, artifact):
        return folder / "blobs" / artifact.digest[7:9] / artifact.digest[9:]


class TestGolden(Case):
    def test_what_is_there(self):
        s = self.open()
        self.assertEqual(s.runs(), ["20260102T030405Z-00000001"])
        self.assertEqual(s.tables(), ["counts"])
        self.assertEqual(s.figures(), ["sizes"])
        self.assertIn(COLLECTION, s.steps())
        self.assertIn("step.train.broken", s.steps())
        self.assertNotIn("step.evaluate.broken", s.steps())  # it was skipped: it has no key

    def test_every_result_proves_itself(self):
        s, read = self.open(), 0
        for address in s.steps():
            if address == "step.train.broken":
                continue
            result = s.result(address)
            self.assertEqual(result.record.origin["step"], address)
            for name, artifact in result.outputs.items():
                for file in [f.name for f in artifact.files or ()] or [None]:
                    size = artifact.size if file is None else artifact.file(file).size
                    self.assertEqual(len(result.read(name, file)), size)
                    read += 1
        self.assertGreater(read, 25)

    def test_table(self):
        s = self.open()
        frame = s.table("counts")
        got = rows(frame)
        counts = [s.result(f'step.import_corpus.toy["{k}"]').json("counts")["documents"] for k in ("all", "few")]
        self.assertEqual([r["row"] for r in got], ["all", "both"])
        self.assertEqual([r["Collection"] for r in got], ["All", "Both"])
        self.assertEqual([r["note"] for r in got], ["bold", "0.5"])
        self.assertEqual(got[0]["train"], counts[0]["train"])
        self.assertEqual(got[1]["train"], sum(c["train"] for c in counts) / 2)
        self.assertIsNone(got[0]["train.std"])
        self.assertAlmostEqual(got[1]["train.std"], abs(counts[0]["train"] - counts[1]["train"]) / 2**0.5)
        self.assertEqual(got[1]["train.n"], 2)
        if PANDAS:
            self.assertEqual(frame.attrs["paper"], "tab:counts")
            self.assertEqual(frame.attrs["columns"]["dev"], "Dev")
            self.assertIn("R & D</i> of a \\u003c text\u2028 with", frame.attrs["caption"])
        self.assertEqual(rows(s.table("table.counts")), got)

    def test_figure(self):
        got = rows(self.open().figure("sizes"))
        self.assertEqual([(r["series"], r["point"]) for r in got], [("s", "all"), ("s", "few")])
        self.assertGreater(got[0]["x"], got[1]["x"])

    def test_run(self):
        run = self.open().run(EVALUATE)
        listed = list(run)
        self.assertEqual([(d.query_id, d.doc_id) for d in listed],
                         [("1", "2"), ("1", "!2:1 2 %"), ("1", "0"), ("1", "1"), ("a b", "D é")])
        self.assertEqual(sorted((d.score for d in listed[:4]), reverse=True), [d.score for d in listed[:4]])
        self.assertEqual(len({d.score for d in listed[:4]}), 4)  # ties are set apart
        frame = run.frame()
        self.assertEqual([list(r) for r in rows(frame)][0], ["qid", "docno", "score", "rank"])
        self.assertEqual([r["rank"] for r in rows(frame)], [0, 1, 2, 3, 0])
        named = list(run.named([{"doc": 2, "key": "D2"}], [{"example_id": 1, "name": "first"}, {"example_id": 3}]))
        self.assertEqual((named[0].query_id, named[0].doc_id, named[2].doc_id), ("first", "D2", "0"))

    def test_qrels(self):
        qrels = self.open().qrels(EVALUATE)
        self.assertEqual([(q.query_id, q.doc_id, q.relevance) for q in qrels],
                         [("1", "0", 2), ("1", "1", 1), ("a b", "D é", 1), ("3", "2", 1)])
        self.assertEqual(list(rows(qrels.frame())[0]), ["qid", "docno", "label"])
        self.assertEqual(list(qrels.named([{"doc": 0, "key": "D0"}]))[0].doc_id, "D0")

    @unittest.skipUnless(importlib.util.find_spec("ir_measures"), "ir_measures is not installed")
    def test_ir_measures(self):
        import ir_measures

        s = self.open()
        got = ir_measures.calc_aggregate([ir_measures.RR @ 10, ir_measures.Success @ 1], s.qrels(EVALUATE), s.run(EVALUATE))
        self.assertAlmostEqual(got[ir_measures.RR @ 10], (1 / 3 + 1 + 0) / 3)  # query 3 has no ranking
        self.assertAlmostEqual(got[ir_measures.Success @ 1], 1 / 3)

    def test_collection(self):
        s = self.open()
        counts = s.result(COLLECTION).json("counts")["documents"]
        documents, corpus = s.documents(COLLECTION), s.corpus(COLLECTION)
        self.assertEqual([d["doc"] for d in documents], list(range(counts["union"])))
        self.assertEqual(len(rows(corpus.frame())), counts["union"])
        for d, text in zip(documents, corpus):
            self.assertTrue(text["text"].startswith(d["title"].strip()))
        queries = list(s.queries(COLLECTION))
        self.assertEqual({q["split"] for q in queries}, {"train", "dev"})
        self.assertEqual(len(rows(s.queries(COLLECTION).frame())), len(queries))

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
    def test_embeddings(self):
        s = self.open()
        vectors = s.embeddings("step.embed_hashing.toy")
        self.assertEqual(vectors.shape, (len(list(s.documents(COLLECTION))), 8))
        self.assertEqual(str(vectors.dtype), "float32")

    def test_identifiers(self):
        got = rows(self.open().identifiers("step.atomic_ids.toy"))
        self.assertEqual(got[0]["doc"], 0)
        self.assertEqual(list(got[0]["tokens"]), [32100])

    def test_lines(self):
        lines = ["# a comment\n", "\n", "q Q0\td\u00a0e 1 2.5 t\r\n"]
        self.assertEqual(list(redsi.trec.Run(lambda: lines)), [("q", "d\u00a0e", 2.5)])
        self.assertEqual(list(redsi.trec.Qrels(lambda: ["# c\n", "q 0 d\u3000e 1\n"])), [("q", "d\u3000e", 1, "0")])

    def test_frame(self):
        got = rows(self.open().result("step.score.toy").frame("queries"))
        self.assertEqual(got, [{"query": "1", "MRR@10": 0.5, "hits": 1}, {"query": "a\tb\\t", "MRR@10": None, "hits": 0}])
        with self.assertRaisesRegex(redsi.Error, "is not a table"):
            self.open().result("step.atomic_ids.toy").frame("ids")
        for texts, want in ((["1", "2"], [1, 2]), (["1", ""], [1, None]), (["1", "0.5"], [1.0, 0.5]), (["1", "x"], ["1", "x"]), (["", ""], ["", ""]), ([], []), (["nan"], ["nan"]), (["007"], ["007"]), (["1e3", "-2"], [1000.0, -2.0])):
            self.assertEqual(frames.numbers(texts), want)

    def test_typed(self):
        """Values of which a float has not all digits are as their files have them."""
        columns = [{"id": i, "title": i, "format": {"style": f}} for i, f in (("code", "text"), ("big", "integer"))]
        cells = {"code": {"value": 7, "typed": "007"}, "big": {"value": 9007199254740992, "typed": "9007199254740993"}}
        got = rows(frames.table({"stubs": [], "columns": columns, "rows": [{"id": "r", "titles": [], "cells": cells}]}))
        self.assertEqual(got, [{"row": "r", "code": "007", "big": 9007199254740993}])
        point = {"id": "p", "x": {"value": 1}, "y": cells["big"]}
        self.assertEqual(rows(frames.figure({"series": [{"id": "s", "points": [point]}]}))[0]["y"], 9007199254740993)
        self.assertEqual(rows(frames.frame({"id": [9007199254740993, None]})), [{"id": 9007199254740993}, {"id": None}])

    def test_model(self):
        s = self.open()
        folder = s.model("step.random_t5.toy")
        self.assertEqual(json.loads((folder / "config.json").read_text()), {"model_type": "t5"})
        self.assertEqual(s.model("step.random_t5.toy"), folder)
        own = s.model("step.random_t5.toy", self.dir / "own")
        self.assertEqual((own / "model.safetensors").read_bytes(), b"weights")
        with self.assertRaisesRegex(redsi.Error, "already exists"):
            s.model("step.random_t5.toy", self.dir / "own")
        with self.assertRaisesRegex(redsi.NotFound, r"has no output of type dsi/model .*; it has csv"):
            s.model("table.counts")

    def test_lineage(self):
        made = self.open().lineage("table.counts")
        self.assertEqual([s.address for s in made.steps()],
                         ["step.download.msmarco", 'step.import_corpus.toy["all"]', 'step.import_corpus.toy["few"]', "table.counts"])
        self.assertEqual(made.reads[0].input.path, "config.rows[0].value[0]")
        self.assertEqual(made.reads[0].made_by[0].output, "counts")
        said = str(made)
        self.assertIn('  rows[0].value[0] = counts of step.import_corpus.toy["all"]  import_corpus@3  sha256:', said)
        self.assertIn("    files[0] = files of step.download.msmarco  download@1  sha256:", said)
        unknown = [r for r in self.open().lineage(EVALUATE).reads if r.input.path == "config.model"]
        self.assertEqual((len(unknown), unknown[0].made_by), (1, []))
        self.assertIn("model = sha256:", str(self.open().lineage(EVALUATE)))

    def test_not_there(self):
        s = self.open()
        for call, said in (
            (lambda: s.table("count"), "there is no step table.count; there is table.counts"),
            (lambda: s.result("step.train.broken"), "step.train.broken has no result: it failed"),
            (lambda: s.run(COLLECTION), r"has no output of type trec/run; it has .*queries \(nq/queries\)"),
            (lambda: s.result(COLLECTION).read("texts"), "has no output 'texts'; it has "),
            (lambda: s.result("step.random_t5.toy").read("model"), "is a tree; name one of its files: config.json, model.safetensors"),
            (lambda: s.result("step.random_t5.toy").read("model", "x"), "is a tree; name one of its files"),
            (lambda: s.result(COLLECTION).read("counts", "x"), "is one file, not a tree"),
            (lambda: s.result_of_key("sha256:" + 64 * "0"), "there is no result of sha256:0000"),
            (lambda: self.open(run="2025"), "there is no run 2025; there are 20260102T030405Z-00000001"),
            (lambda: self.open(self.dir), "is not a store: it has no folder records"),
            (lambda: self.open(self.dir / "none"), "is not a folder"),
        ):
            with self.assertRaisesRegex(redsi.NotFound, said):
                call()
        for place in ("s3://bucket/x", "mem:", "http://example.org/x", "https://name:word@example.org/"):
            with self.assertRaises(redsi.Error):
                self.open(place)


class TestPlaces(Case):
    def test_project(self):
        project = self.dir / "project"
        shutil.copytree(GOLDEN, project / ".redsi" / "store")
        (project / "redsi.lock").write_text('{"project":"AAAAAAAAAAAAAAAAAAAAAAAAAA"}')
        self.assertEqual(self.open(project).tables(), ["counts"])
        self.assertEqual(self.open(f"file://{project}").tables(), ["counts"])
        (project / "redsi.lock").write_text('{"project":"BBBBBBBBBBBBBBBBBBBBBBBBBB"}')
        # The run is another project's. What is left is what results say of themselves.
        s = self.open(project)
        self.assertEqual(s.tables(), ["counts"])
        self.assertNotIn("step.train.broken", s.steps())

    def test_newest_run(self):
        folder = self.copy()
        record = json.loads((folder / "records/runs/20260102!t030405!z-00000001.json").read_text())
        steps = {step["address"]: step["key"] for step in record["steps"]}
        record["run_id"] = "20260103T000000Z-00000002"
        record["steps"] = [
            {"address": "table.counts", "key": "sha256:" + 64 * "1", "outcome": "failed"},
            {"address": COLLECTION, "key": steps['step.import_corpus.toy["few"]'], "outcome": "ran"},
        ]
        body = json.dumps({"steps": record.pop("steps")}).encode()
        record["format"], record["body"] = "redsi-run/2", records.sha256(body)
        blob = folder / "blobs" / record["body"][7:9] / record["body"][9:]
        blob.parent.mkdir(exist_ok=True)
        blob.write_bytes(body)
        (folder / "records/runs/20260103!t000000!z-00000002.json").write_text(json.dumps(record))
        s = self.open(folder)
        self.assertEqual(s.runs()[0], "20260103T000000Z-00000002")
        self.assertEqual(s.result(COLLECTION).key, steps['step.import_corpus.toy["few"]'])  # of the newest
        self.assertEqual(s.result("table.counts").key, steps["table.counts"])  # of the newest that has one
        old = self.open(folder, run="20260102T030405Z-00000001")
        self.assertEqual(old.result(COLLECTION).key, steps[COLLECTION])
        with self.assertRaises(redsi.NotFound):
            self.open(folder, run="20260103T000000Z-00000002").table("counts")

    def test_long_result(self):
        folder = self.copy()
        key = self.open().result("table.counts").key
        path = folder / "records/results" / (key[7:] + ".json")
        whole = path.read_bytes()
        digest = records.sha256(whole)
        blob = folder / "blobs" / digest[7:9] / digest[9:]
        blob.parent.mkdir(exist_ok=True)
        blob.write_bytes(whole)

        def sealed(key):
            head = json.dumps({"format": "redsi.result/2", "key": key, "body": digest}, separators=(",", ":")).encode()[:-1]
            return head + b',"seal":"' + records.sha256(head).encode() + b'"}'

        path.write_bytes(sealed(key))
        self.assertEqual(rows(self.open(folder).table("counts")), rows(self.open().table("counts")))
        path.write_bytes(sealed("sha256:" + 64 * "2"))
        with self.assertRaises(redsi.Damaged):
            self.open(folder).table("counts")

    def test_names_of_records(self):
        for name, path in (("runs/Paper v1", "runs/!paper%20v1"), ("pins/日", "pins/%e6%97%a5"), ("a/.b", "a/%2eb")):
            self.assertEqual(stores._encoded(name), path)
            self.assertEqual(stores._decoded(path), name)


class TestDamage(Case):
    def test_blob(self):
        folder = self.copy()
        result = self.open(folder).result(COLLECTION)
        for name in ("documents", "counts"):
            path = self.blob(folder, result.outputs[name])
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.chmod(0o644)
            path.write_bytes(data)
        s = self.open(folder)
        with self.assertRaisesRegex(redsi.Damaged, "its bytes are not those of sha256:"):
            next(iter(s.documents(COLLECTION)))
        with self.assertRaises(redsi.Damaged):
            s.result(COLLECTION).json("counts")
        self.blob(folder, result.outputs["counts"]).unlink()
        with self.assertRaisesRegex(redsi.NotFound, "the store has no blob sha256:"):
            s.result(COLLECTION).json("counts")

    def test_every_byte_of_a_record(self):
        folder = self.copy()
        key = self.open().result("step.random_t5.toy").key
        path = folder / "records/results" / (key[7:] + ".json")
        whole = path.read_bytes()
        for i in range(len(whole)):
            path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
            with self.assertRaises((redsi.Damaged, redsi.UnknownFormat), msg=f"byte {i}, {whole[i:i+1]!r}"):
                self.open(folder).result_of_key(key)
        for n in (0, 1, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:n])
            with self.assertRaises(redsi.Damaged):
                self.open(folder).result_of_key(key)

    def test_sealed_lies(self):
        folder = self.copy()
        key = self.open().result("step.random_t5.toy").key
        path = folder / "records/results" / (key[7:] + ".json")
        whole = json.loads(path.read_bytes())
        del whole["seal"]

        def write(value):
            head = json.dumps(value, separators=(",", ":")).encode()[:-1]
            path.write_bytes(head + b',"seal":"' + records.sha256(head).encode() + b'"}')

        def changed(change):
            value = json.loads(json.dumps(whole))
            change(value)
            write(value)

        write(whole)
        self.open(folder).result_of_key(key)  # as it was
        changed(lambda v: v["preimage"]["config"].update(layers=2))
        with self.assertRaisesRegex(redsi.Damaged, "its preimage does not give its key"):
            self.open(folder).result_of_key(key)
        for name in ("../../../etc/x", "/etc/x", "a/../x", "a\\b", "C:x", "", "a\n"):
            changed(lambda v: v["outputs"]["model"]["files"][0].update(name=name))
            with self.assertRaises(redsi.Damaged, msg=name):
                self.open(folder).result_of_key(key)
        changed(lambda v: v["outputs"]["model"]["files"][0].update(name="other.json"))
        with self.assertRaisesRegex(redsi.Damaged, "the digest of the tree is not that of its files"):
            self.open(folder).result_of_key(key)
        changed(lambda v: v.update(format="redsi.result/9"))
        with self.assertRaisesRegex(redsi.UnknownFormat, "redsi.result/9"):
            self.open(folder).result_of_key(key)


class Handler(http.server.SimpleHTTPRequestHandler):
    asked = []
    cut = ""

    def do_GET(self):
        self.asked.append(self.path)
        if self.cut and self.path.endswith(self.cut):
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            self.wfile.write(b"x")
            return
        super().do_GET()

    def log_message(self, *args):
        pass


class TestHost(Case):
    def serve(self, folder):
        class Own(Handler):
            asked = []
            cut = ""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Own, directory=str(folder)))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}", Own

    def publish(self):
        """A publication: no runs, and what steps there are."""
        folder = self.copy()
        shutil.rmtree(folder / "records" / "runs")
        s = self.open()
        steps = [{"address": a, "key": s.result(a).key} for a in s.steps() if a != "step.train.broken"]
        (folder / "index.json").write_text(json.dumps({"format": "redsi-publication/1", "steps": steps}))
        return folder

    def test_publication(self):
        folder = self.publish()
        url, asked = self.serve(folder)
        s = self.open(url)
        self.assertEqual(s.runs(), [])
        self.assertEqual(s.tables(), ["counts"])
        self.assertEqual(rows(s.table("counts")), rows(self.open().table("counts")))
        self.assertEqual(len(list(s.documents(COLLECTION))), len(list(self.open().documents(COLLECTION))))
        self.assertEqual([m.address for m in s.lineage("table.counts").steps()], [m.address for m in self.open().lineage("table.counts").steps()])
        self.assertEqual((s.model("step.random_t5.toy") / "model.safetensors").read_bytes(), b"weights")
        self.assertTrue(any(p.startswith("/blobs/") for p in asked.asked))
        asked.asked.clear()  # blobs are kept, and verified again
        again = self.open(url)
        list(again.documents(COLLECTION))
        self.assertFalse(any(p.startswith("/blobs/") for p in asked.asked))
        kept = again.place.cached(again.result(COLLECTION).outputs["documents"].digest)
        kept.write_bytes(b"other")
        with self.assertRaises(redsi.Damaged):
            list(self.open(url).documents(COLLECTION))
        self.assertEqual(len(list(self.open(url).documents(COLLECTION))), len(list(self.open().documents(COLLECTION))))
        self.assertEqual(self.open(folder).tables(), ["counts"])  # the same from the folder

    def test_no_publication(self):
        url, _ = self.serve(self.copy())
        with self.assertRaisesRegex(redsi.NotFound, "has no index.json: a folder that `redsi publish` wrote has one"):
            self.open(url).tables()

    def test_wrong_bytes(self):
        folder = self.publish()
        artifact = self.open().result(COLLECTION).outputs["counts"]
        path = self.blob(folder, artifact)
        good = path.read_bytes()
        url, server = self.serve(folder)
        for bad in (good[:-1] + b"!", good[:-1], good + b"!", b""):
            path.write_bytes(bad)
            with self.assertRaises(redsi.Error):
                self.open(url).result(COLLECTION).read("counts")
        path.write_bytes(good)
        server.cut = artifact.digest[9:]
        with self.assertRaises(redsi.Error):
            self.open(url).result(COLLECTION).read("counts")
        server.cut = ""
        self.assertEqual(self.open(url).result(COLLECTION).read("counts"), good)
        self.assertFalse([p for p in (self.dir / "cache").rglob("tmp*") if p.is_file()])

    def test_elsewhere(self):
        folder = self.publish()
        artifact = self.open().result(COLLECTION).outputs["corpus"]
        data = self.blob(folder, artifact).read_bytes()
        self.blob(folder, artifact).unlink()
        url, _ = self.serve(folder)
        (folder / "moved").write_bytes(data)
        record = folder / "records" / "elsewhere" / (artifact.digest[7:] + ".json")
        record.parent.mkdir()
        for at, ok in ((f"{url}/moved", True), ("http://example.org/moved", False), ("file:///etc/passwd", False), (f"{url}/gone", False)):
            record.write_text(json.dumps({"format": "redsi-elsewhere/1", "digest": artifact.digest, "size": len(data), "url": at}))
            shutil.rmtree(self.dir / "cache", ignore_errors=True)
            if ok:
                self.assertEqual(self.open(url).result(COLLECTION).read("corpus"), data)
                continue
            with self.assertRaises(redsi.NotFound, msg=at):
                self.open(url).result(COLLECTION).read("corpus")
        # A folder does not follow addresses of this machine.
        record.write_text(json.dumps({"digest": artifact.digest, "size": len(data), "url": f"{url}/moved"}))
        shutil.rmtree(self.dir / "cache", ignore_errors=True)
        with self.assertRaisesRegex(redsi.NotFound, "which is not https"):
            self.open(folder).result(COLLECTION).read("corpus")

    def test_busy(self):
        url, _ = self.serve(self.publish())
        real, calls = places._opener.open, []

        def busy(request, timeout):
            calls.append(request.full_url)
            if len(calls) == 1:
                raise OSError("connection reset")
            return real(request, timeout=timeout)

        with mock.patch.object(places._opener, "open", busy), mock.patch.object(places.time, "sleep"):
            self.assertEqual(self.open(url).tables(), ["counts"])
        self.assertEqual(len(calls), 2)


if __name__ == "__main__":
    unittest.main()
