# A model on NQ320K as it was published: nothing is rebuilt. Paths begin at this file's folder.
# redsi run -f examples/published_package.hcl
# Another folder of that layout, such as one of an export: --var published=/data/htmlnorm/pageid

variable "published" {
  description = "Folder with documents.jsonl.gz, train_queries.jsonl.gz, validation_queries.jsonl.gz and metadata.json."
  default     = "https://huggingface.co/datasets/vingtetun/nq320k/resolve/main/data/htmlnorm/pageid"
}

variable "pretrained" {
  description = "Start from T5-Efficient-Tiny, as the paper does; otherwise from random weights, which need no download."
  default     = true
}

variable "steps" { default = 100000 }

step "download" "published" {
  urls    = [for f in ["documents.jsonl.gz", "train_queries.jsonl.gz", "validation_queries.jsonl.gz", "metadata.json"] : "${var.published}/${f}"]
  license = "CC BY-SA 3.0"
}

step "download" "t5_tokenizer" {
  urls = ["../assets/tokenizers/t5-tokenizer.json.gz"]
}

step "package" "published" {
  files = step.download.published.files
}

step "naive_ids" "published" {
  documents = step.package.published.documents
  tokenizer = step.download.t5_tokenizer.files
  budget    = 320000
}

step "download" "tiny" {
  for_each = toset(var.pretrained ? ["google/t5-efficient-tiny/resolve/3441d7e8bf3f89841f366d39452b95200416e4a9"] : [])
  urls     = [for f in ["config.json", "pytorch_model.bin"] : "https://huggingface.co/${each.key}/${f}"]
  license  = "Apache-2.0"
}

step "random_t5" "tiny" {
  for_each = toset(var.pretrained ? [] : ["tiny"])
  layers   = 2
  d_model  = 32
  d_kv     = 16
  d_ff     = 128
  heads    = 2
}

step "train" "published" {
  model          = concat([for s in step.download.tiny : s.files], [for s in step.random_t5.tiny : s.model])[0]
  ids            = step.naive_ids.published.ids
  corpus         = step.package.published.corpus
  queries        = step.package.published.queries
  tokenizer      = step.download.t5_tokenizer.files
  max_input      = 32
  learning_rate  = 0.001
  steps          = var.steps
  batch          = 128
  evaluate_every = max(1, floor(var.steps / 20))
}

step "evaluate" "published" {
  model     = step.train.published.model
  ids       = step.naive_ids.published.ids
  queries   = step.package.published.queries
  tokenizer = step.download.t5_tokenizer.files
}

table "published" {
  caption = "A small T5 with naive identifiers on NQ320K as it was published."
  stubs   = ["Identifier"]
  columns = [for metric, name in { mrr_10 = "MRR@10", hits_1 = "Hits@1", hits_10 = "Hits@10" } : { id = metric, title = name, field = "percent.post_filtered.${metric}", format = "fixed", decimals = 1 }]
  rows    = [{ id = "naive", titles = ["Naive"], value = step.evaluate.published.report }]
}
