# MS MARCO's document ranking data: atomic, naive and semantic identifiers on another collection than the paper's.
# redsi run -f examples/msmarco.hcl --var scale=toy
#
# At full scale it downloads 8 GB and takes the documents of 95,000 train and 5,000 development queries, drawn by seed.

variable "scale" {
  description = "full: the real data. toy: a small collection in its formats, made up, in the folder msmarco."
  default     = "full"
  validation {
    condition     = contains(["full", "toy"], var.scale)
    error_message = "scale is full or toy."
  }
}

locals {
  full        = var.scale == "full"
  identifiers = { atomic = "Atomic", naive = "Naive", semantic = "Semantic" }
  source      = local.full ? "https://msmarco.z22.web.core.windows.net/msmarcoranking" : "msmarco"
  training = {
    full = { limit = { train = 95000, dev = 5000 }, steps = 200000, batch = 128, evaluate_every = 5000, rate = 0.001, precision = "fp16" }
    toy  = { limit = {}, steps = 200, batch = 32, evaluate_every = 50, rate = 0.01, precision = "fp32" }
  }[var.scale]
}

step "download" "msmarco" {
  urls    = [for f in ["docs", "doctrain-queries", "doctrain-qrels", "docdev-queries", "docdev-qrels"] : "${local.source}/msmarco-${f}.tsv.gz"]
  license = local.full ? "MS MARCO: non-commercial research only" : "Apache-2.0"
}

step "download" "tokenizer" {
  for_each = { t5 = "t5", bert = "bert-base-uncased" }
  urls     = ["../assets/tokenizers/${each.value}-tokenizer.json.gz"]
  license  = "BSD-3-Clause"
}

# Each document by itself, and those of one title as one.
step "import_corpus" "documents" {
  for_each  = toset(["exact", "normalized_title"])
  files     = step.download.msmarco.files
  tokenizer = step.download.tokenizer["bert"].files
  form      = "title_content"
  key       = each.key
  keep      = "relevant"
  empty     = "drop_body"
  columns   = ["id", "url", "title", "text"]
  limit     = local.training.limit
}

step "download" "model" {
  for_each = local.full ? { t5 = "google/t5-efficient-tiny", bert = "google/bert_uncased_L-8_H-512_A-8" } : {}
  urls     = [for f in ["config.json", "pytorch_model.bin"] : "https://huggingface.co/${each.value}/resolve/main/${f}"]
  license  = "Apache-2.0"
}

step "random_t5" "toy" {
  for_each = local.full ? [] : ["toy"]
  layers   = 2
  d_model  = 32
  d_kv     = 16
  d_ff     = 128
  heads    = 2
  dropout  = 0
}

step "embed" "documents" {
  for_each  = local.full ? ["exact"] : []
  corpus    = step.import_corpus.documents["exact"].corpus
  title     = false # the text begins with it
  model     = step.download.model["bert"].files
  tokenizer = step.download.tokenizer["bert"].files
}

step "embed_hashing" "documents" {
  for_each = local.full ? [] : ["exact"]
  corpus   = step.import_corpus.documents["exact"].corpus
  title    = false
}

step "atomic_ids" "documents" {
  documents = step.import_corpus.documents["exact"].documents
}

step "naive_ids" "documents" {
  documents = step.import_corpus.documents["exact"].documents
  tokenizer = step.download.tokenizer["t5"].files
  times     = 3
}

step "semantic_ids" "documents" {
  documents  = step.import_corpus.documents["exact"].documents
  embeddings = local.full ? step.embed.documents["exact"].embeddings : step.embed_hashing.documents["exact"].embeddings
  tokenizer  = step.download.tokenizer["t5"].files
  leaf_size  = local.full ? 100 : 10
}

locals {
  ids = { atomic = step.atomic_ids.documents.ids, naive = step.naive_ids.documents.ids, semantic = step.semantic_ids.documents.ids }
}

step "train" "msmarco" {
  for_each       = local.ids
  model          = local.full ? step.download.model["t5"].files : step.random_t5.toy["toy"].model
  ids            = each.value
  corpus         = step.import_corpus.documents["exact"].corpus
  queries        = step.import_corpus.documents["exact"].queries
  tokenizer      = step.download.tokenizer["t5"].files
  max_input      = each.key == "atomic" ? 64 : 32
  learning_rate  = each.key == "atomic" ? local.training.rate / 2 : local.training.rate
  steps          = local.training.steps
  batch          = local.training.batch
  evaluate_every = local.training.evaluate_every
  precision      = local.training.precision
  resources { queue = local.full ? "gpu" : "cpu" }
}

step "evaluate" "msmarco" {
  for_each  = local.ids
  model     = step.train.msmarco[each.key].model
  ids       = each.value
  queries   = step.import_corpus.documents["exact"].queries
  tokenizer = step.download.tokenizer["t5"].files
  resources { queue = local.full ? "gpu" : "cpu" }
}

step "export" "msmarco" {
  documents = step.import_corpus.documents["exact"].documents
  queries   = step.import_corpus.documents["exact"].queries
  corpus    = step.import_corpus.documents["exact"].corpus
  formats   = ["trec", "beir"]
  ids       = "key"
  name      = "MSMARCO"
  key       = "exact"
  form      = "title_content"
  origin    = local.full ? "other" : "generated"
}

table "msmarco" {
  caption = "T5-Efficient-Tiny on MS MARCO documents, development queries (%)."
  scale   = var.scale
  stubs   = ["Identifier"]
  columns = concat(
    [for f, title in { hits_1 = "H@1", hits_10 = "H@10", mrr_10 = "MRR@10" } : { id = f, title = title, field = "percent.post_filtered.${f}", format = "fixed", decimals = 1 }],
    [{ id = "invalid_40", title = "Invalid@40", field = "percent.invalid_40", format = "fixed", decimals = 1 }],
  )
  rows = [for id, title in local.identifiers : { id = id, titles = [title], value = step.evaluate.msmarco[id].report }]
}
