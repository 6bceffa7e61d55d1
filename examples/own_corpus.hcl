# Any corpus: identifiers, training and evaluation on your own documents, queries and judgments.
# redsi run -f examples/own_corpus.hcl --var 'documents=["corpus.jsonl"]' --var 'queries=["queries.jsonl"]' --var 'qrels={all="qrels/test.tsv"}'
#
# JSON lines, BEIR, TREC, MS MARCO, TSV, CSV or Parquet, plain or compressed; paths begin at this file's folder.

variable "documents" { type = list(string) }
variable "queries" { type = list(string) }

variable "qrels" {
  description = "Files of judgments by split: train, dev and test; or one, all, whose queries are then drawn into the three."
  type        = map(string)
  validation {
    condition     = contains(keys(var.qrels), "all") || contains(keys(var.qrels), "train")
    error_message = "give the file of train, or one, all, whose queries are drawn into train, dev and test."
  }
}

variable "model" {
  description = "config.json and weights of a T5, whose tokenizer is T5's. Without them the weights are random: a model that knows no language."
  type        = list(string)
  default     = []
}

variable "steps" {
  description = "Updates of each model. More of them, and batches of 64 and more, are for machines with a GPU."
  default     = 2000
}

variable "batch" { default = 32 }

locals {
  drawn       = contains(keys(var.qrels), "all")
  identifiers = { atomic = "Atomic", naive = "Naive", semantic = "Semantic" }
  asked       = local.drawn || contains(keys(var.qrels), "test") ? "test" : "dev"
}

step "download" "own" {
  for_each = merge({ documents = var.documents, queries = var.queries }, { for split, file in var.qrels : "qrels_${split}" => [file] })
  urls     = each.value
}

step "download" "tokenizer" {
  urls    = ["../assets/tokenizers/t5-tokenizer.json.gz"]
  license = "Apache-2.0"
}

# The least that a study needs are train and dev queries: what is not there is drawn.
step "import_corpus" "own" {
  documents   = step.download.own["documents"].files
  queries     = step.download.own["queries"].files
  qrels       = [for s in ["all"] : step.download.own["qrels_${s}"].files if contains(keys(var.qrels), s)]
  train_qrels = [for s in ["train"] : step.download.own["qrels_${s}"].files if contains(keys(var.qrels), s)]
  dev_qrels   = [for s in ["dev"] : step.download.own["qrels_${s}"].files if contains(keys(var.qrels), s)]
  test_qrels  = [for s in ["test"] : step.download.own["qrels_${s}"].files if contains(keys(var.qrels), s)]
  form        = "title_content"
  split       = local.drawn ? { dev = 0.1, test = 0.2 } : contains(keys(var.qrels), "dev") ? {} : { dev = 0.1 }
  split_from  = local.drawn || contains(keys(var.qrels), "dev") ? "unsplit" : "train"
}

step "random_t5" "own" {
  for_each = length(var.model) == 0 ? ["small"] : []
  layers   = 2
  d_model  = 128
  d_kv     = 32
  d_ff     = 512
  heads    = 4
}

step "download" "model" {
  for_each = length(var.model) == 0 ? [] : ["given"]
  urls     = var.model
}

step "embed_hashing" "own" {
  corpus = step.import_corpus.own.corpus
  title  = false # the text begins with it
}

step "atomic_ids" "own" {
  documents = step.import_corpus.own.documents
}

step "naive_ids" "own" {
  documents = step.import_corpus.own.documents
  tokenizer = step.download.tokenizer.files
  times     = 3
}

step "semantic_ids" "own" {
  documents  = step.import_corpus.own.documents
  embeddings = step.embed_hashing.own.embeddings
  tokenizer  = step.download.tokenizer.files
}

locals {
  model = length(var.model) == 0 ? step.random_t5.own["small"].model : step.download.model["given"].files
  ids   = { atomic = step.atomic_ids.own.ids, naive = step.naive_ids.own.ids, semantic = step.semantic_ids.own.ids }
}

step "train" "own" {
  for_each       = local.ids
  model          = local.model
  ids            = each.value
  corpus         = step.import_corpus.own.corpus
  queries        = step.import_corpus.own.queries
  tokenizer      = step.download.tokenizer.files
  steps          = var.steps
  batch          = var.batch
  evaluate_every = max(1, ceil(var.steps / 10))
  precision      = "fp32"
  resources { queue = "cpu" }
}

step "evaluate" "own" {
  for_each  = local.ids
  model     = step.train.own[each.key].model
  ids       = each.value
  queries   = step.import_corpus.own.queries
  tokenizer = step.download.tokenizer.files
  split     = local.asked
  resources { queue = "cpu" }
}

step "export" "own" {
  documents   = step.import_corpus.own.documents
  queries     = step.import_corpus.own.queries
  corpus      = step.import_corpus.own.corpus
  qrels       = [for split in ["train", "dev", "test"] : step.import_corpus.own["${split}_qrels"]]
  identifiers = local.ids
  ids         = "key"
  name        = "own"
  key         = "exact"
  form        = "title_content"
  origin      = "other"
}

table "own" {
  caption = "A T5 on the own corpus, ${local.asked} queries (%)."
  stubs   = ["Identifier"]
  columns = [for f, title in { hits_1 = "H@1", hits_10 = "H@10", mrr_10 = "MRR@10" } :
    { id = f, title = title, field = "percent.post_filtered.${f}", format = "fixed", decimals = 1 }
  ]
  rows = [for id, title in local.identifiers : { id = id, titles = [title], value = step.evaluate.own[id].report }]
}
