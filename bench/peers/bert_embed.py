"""Embedding documents with BERT in transformers: the peer of the workload "bert".

    pip install -r requirements-models.txt
    python bert_embed.py FOLDER --make
    python bert_embed.py FOLDER [--how bf16|onnxruntime|onnxruntime-int8|openvino|openvino-bf16] --slices 3

The weights are random, of google/bert_uncased_L-8_H-512_A-8's sizes. One batch of 12
documents, padded to the longest: two thirds cut off at 512 tokens, the others of 100
to 512, which is about how long NQ's pages are. [CLS] of the last layer. The check is of float32.
"""
import itertools
import tempfile

import torch
from transformers import BertModel

from drawn import Numbers
from models import bert, make, masked
from slices import arguments, serve


def main():
    parser = arguments(__doc__)
    parser.add_argument("--how", default="float32")
    args = parser.parse_args()
    if args.make:
        return make(args.folder, bert)
    model = BertModel.from_pretrained(args.folder, add_pooling_layer=False).eval()
    texts = list(itertools.islice(Numbers(5).texts(), 12))
    ids, mask = masked(texts)

    @torch.no_grad()
    def embed():
        return model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]

    first = " ".join(f"{v:.3f}" for v in embed()[0, :4].tolist())
    of, run_model = ("transformers", "torch"), embed
    if args.how == "bf16":
        model.bfloat16()
    elif args.how != "float32":
        of, run_model = other(model, args.how, ids, mask)

    def run():
        run_model()
        return len(texts)

    serve(f"[{first}]", run, args.slices, how=[next((p for p in ("bf16", "int8") if p in args.how), "float32")], of=of)


class Vectors(torch.nn.Module):
    """Encodes, and answers a tensor alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, mask):
        return self.model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]


def other(model, how, ids, mask):
    """The model by another program: the names of its packages, and what computes."""
    if how.startswith("onnxruntime"):
        import onnxruntime

        with tempfile.TemporaryDirectory() as folder:
            path, batch = folder + "/model.onnx", torch.export.Dim("batch", min=2)
            torch.onnx.export(Vectors(model), (ids, mask), path, dynamo=True, input_names=["ids", "mask"], verbose=False,
                              dynamic_shapes={"ids": {0: batch, 1: torch.export.Dim("length", min=2)}, "mask": {0: batch, 1: torch.export.Dim("length", min=2)}})
            if "int8" in how:  # rows of weights, and what they are multiplied with as it comes
                from onnxruntime.quantization import QuantType, quantize_dynamic

                quantize_dynamic(path, path + "8", per_channel=True, weight_type=QuantType.QInt8)
                path += "8"
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = torch.get_num_threads()
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        given = {"ids": ids.numpy(), "mask": mask.numpy()}
        return ("onnxruntime",), lambda: session.run(None, given)
    import openvino

    core = openvino.Core()
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": torch.get_num_threads(),
                "INFERENCE_PRECISION_HINT": "bf16" if "bf16" in how else "f32"}
    compiled = core.compile_model(openvino.convert_model(Vectors(model), example_input=(ids, mask)), "CPU", settings)
    return ("openvino",), lambda: compiled([ids.numpy(), mask.numpy()])


main()
