# A small training for the line run_train_vs_transformers: T5 Efficient Tiny, 128 inputs an update, documents of 32
# tokens and the questions about them as they come.
variable "seed" {
  default = 1
}

variable "updates" {
  default = 15
}

variable "assets" {}

step "synth" "nq" {
  pages           = 400
  train_questions = 1600
  dev_questions   = 60
}

step "download" "tokenizer" {
  for_each = { t5 = "t5", bert = "bert-base-uncased" }
  urls     = ["${var.assets}/${each.value}-tokenizer.json.gz"]
}

step "extract" "train" {
  files = step.synth.nq.train
  split = "train"
}

step "extract" "dev" {
  files = step.synth.nq.dev
  split = "dev"
}

step "dedup" "title" {
  train     = step.extract.train.headers
  dev       = step.extract.dev.headers
  tokenizer = step.download.tokenizer["bert"].files
  key       = "title"
}

step "serialize" "nq" {
  records        = concat([step.extract.train.records], [step.extract.dev.records])
  documents      = step.dedup.title.documents
  form           = "ncinorm"
  t5_tokenizer   = step.download.tokenizer["t5"].files
  bert_tokenizer = step.download.tokenizer["bert"].files
}

step "naive_ids" "nq" {
  documents = step.dedup.title.documents
  tokenizer = step.download.tokenizer["t5"].files
  budget    = 320000
}

step "random_t5" "tiny" {
  layers  = 4
  d_model = 256
  d_kv    = 64
  d_ff    = 1024
  heads   = 4
}

step "export" "nq" {
  documents = step.dedup.title.documents
  queries   = step.dedup.title.queries
  corpus    = step.serialize.nq.corpus
  formats   = ["beir"]
  name      = "bench"
  key       = "title"
  origin    = "generated"
}

step "train" "tiny" {
  model          = step.random_t5.tiny.model
  ids            = step.naive_ids.nq.ids
  corpus         = step.serialize.nq.corpus
  queries        = step.dedup.title.queries
  tokenizer      = step.download.tokenizer["t5"].files
  steps          = var.updates
  batch          = 128
  evaluate_every = var.updates
  early_stopping = "heuristic" # transformers' default
  seed           = var.seed
}

# What the line serve_200_p99_vs_transformers serves, for its peer.
step "export_model" "tiny" {
  model     = step.train.tiny.model
  ids       = step.naive_ids.nq.ids
  tokenizer = step.download.tokenizer["t5"].files
  name      = "bench"
}
