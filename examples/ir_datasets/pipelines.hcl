# A data set of ir_datasets, https://ir-datasets.com, ranked by BM25: Vaswani's 11,429 abstracts and 93 queries, 2 MB.
# redsi run -f examples/ir_datasets
#
# ir_datasets downloads what it needs when it is first asked for it, into a folder of the machine. Here redsi downloads, so
# that the bytes are pinned three times: the lock of the environment has the SHA-256 of ir_datasets' own package; that has the
# MD5 of each file, and export.py takes no other; and the first run writes the files' SHA-256 into redsi.lock.

variable "dataset" {
  description = "Its name in ir_datasets."
  default     = "vaswani"
}

# Another: --var dataset=cranfield --var 'downloads={ "1730f7be572d95a5a4b56c59a7b900a5" = "http://ir.dcs.gla.ac.uk/resources/test_collections/cran/cran.tar.gz" }'
variable "downloads" {
  description = "Files that the data set is made of, by their MD5, as ir_datasets' etc/downloads.json has them: expected_md5 and url."
  default     = { "23e5607081191b153738e81fbd834680" = "http://ir.dcs.gla.ac.uk/resources/test_collections/npl/npl.tar.gz" }
}

variable "split" {
  description = "What its queries are for: train, dev or test."
  default     = "test"
}

environment "irds" {
  # uv pip compile --generate-hashes --python-version 3.11, of ir_datasets==0.6.3
  requirements = "requirements.txt"
  python       = "3.11"
}

# Under their MD5, which is how ir_datasets looks for them in its folder downloads, and how its mirror names them.
step "download" "files" {
  urls    = values(var.downloads)
  names   = keys(var.downloads)
  mirrors = ["https://mirror.ir-datasets.com/"]
}

step "python" "export" {
  script      = "export.py"
  arguments   = [var.dataset, var.split, "beir"]
  environment = environment.irds
  inputs      = { "ir_datasets/downloads" = step.download.files.files }
  outputs     = ["beir/"]
  env = {
    IR_DATASETS_HOME            = "ir_datasets"
    IR_DATASETS_TMP             = "tmp"
    IR_DATASETS_SMALL_FILE_SIZE = "0" # else it looks for files of 5 MB and more alone
  }
}

step "import_corpus" "dataset" {
  files = step.python.export.out["beir"]
  form  = "title_content"

  check "every document is there" {
    counts = "documents"
    equals = var.dataset == "vaswani" ? 11429 : null
  }
}

step "bm25" "dataset" {
  corpus  = step.import_corpus.dataset.corpus
  queries = step.import_corpus.dataset.queries
  split   = var.split
}

step "score" "dataset" {
  run   = step.bm25.dataset.run
  qrels = step.import_corpus.dataset["${var.split}_qrels"]
}

table "dataset" {
  caption = "BM25, as Anserini has it, on ${var.dataset} (%)."
  stubs   = ["Data set"]
  columns = [for id, title in { ndcg_10 = "nDCG@10", ap = "AP", recall_100 = "Recall@100" } : { id = id, title = title, field = "percent.${id}", format = "fixed", decimals = 1 }]
  rows    = [{ id = "bm25", titles = [var.dataset], value = step.score.dataset.report }]
}
