"""A server of search as one writes it around transformers: the peer of "redsi serve".

    pip install -r requirements-models.txt
    python serve.py FOLDER

FOLDER is what redsi's export_model writes: a trained model, its tokenizer, and the tokens of each document's identifier.
Connections have a thread each; one more thread searches what waits, as many queries at once as --batch allows. 4 beams
along a trie of the identifiers, which a logits processor walks for all beams at once. Nobody is sent away.
"""
import argparse
import concurrent.futures
import http.server
import json
import pathlib
import queue
import threading
import urllib.parse

import torch
from transformers import AutoTokenizer, T5ForConditionalGeneration

from drawn import Trie

BEAMS = 4


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--batch", type=int, default=64)
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(args.folder)
    model = T5ForConditionalGeneration.from_pretrained(args.folder).eval()
    with open(args.folder / "identifiers.jsonl", encoding="utf-8") as f:
        documents = {tuple(row["tokens"]): str(row["docid"]) for row in map(json.loads, f)}
    along = [Trie(list(map(list, documents)), model.config.vocab_size)]
    waiting = queue.SimpleQueue()

    @torch.inference_mode()
    def search(queries):
        inputs = tokenizer(["query: " + q.lower() for q in queries], padding=True, truncation=True, max_length=65, return_tensors="pt")
        out = model.generate(**inputs, num_beams=BEAMS, num_return_sequences=BEAMS, max_new_tokens=max(map(len, documents)),
                             logits_processor=along, return_dict_in_generate=True, output_scores=True)
        told = []
        for ids, score in zip(out.sequences.tolist(), out.sequences_scores.tolist()):
            tokens = ids[1:]
            document = documents.get(tuple(tokens[: tokens.index(1) + 1] if 1 in tokens else tokens))
            told.append({"document": document, "score": score})
        return [[t for t in told[i : i + BEAMS] if t["document"]] for i in range(0, len(told), BEAMS)]

    def work():
        while True:
            batch = [waiting.get()]
            while len(batch) < args.batch and not waiting.empty():
                batch.append(waiting.get())
            try:
                for (_, answer), results in zip(batch, search([q for q, _ in batch])):
                    answer.set_result(results)
            except Exception as e:
                for _, answer in batch:
                    answer.set_exception(e)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # a connection is used again

        def do_GET(self):
            query, answer = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["q"][0], concurrent.futures.Future()
            waiting.put((query, answer))
            body = json.dumps({"query": query, "results": answer.result()}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 256  # as many connections may begin at once

    threading.Thread(target=work, daemon=True).start()
    with Server(("127.0.0.1", 0), Handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


main()
