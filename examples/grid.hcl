# A grid of learning rates and schedules: development queries choose, the chosen model alone is asked the test queries.
# redsi run -f examples/grid.hcl
#
# The collection is a small one in MS MARCO's formats, made up, and the model a small random T5: minutes on two cores.
# Put your own files and a trained model in their place.

variable "steps" {
  description = "Updates of a training at most."
  default     = 2000
}

step "download" "collection" {
  urls = [for f in ["docs", "doctrain-queries", "doctrain-qrels", "docdev-queries", "docdev-qrels"] : "msmarco/msmarco-${f}.tsv.gz"]
}

step "import_corpus" "toy" {
  files      = step.download.collection.files
  split      = { test = 0.2 } # of train's, as the collection has no test queries
  split_from = "train"
  form       = "title_content"
}

step "download" "tokenizer" {
  urls    = ["../assets/tokenizers/t5-tokenizer.json.gz"]
  license = "Apache-2.0"
}

step "random_t5" "toy" {
  layers  = 2
  d_model = 32
  d_kv    = 16
  d_ff    = 128
  heads   = 2
}

step "atomic_ids" "toy" {
  documents = step.import_corpus.toy.documents
}

locals {
  grid = {
    for c in setproduct([0.001, 0.01], ["constant", "linear"]) : "${c[1]} ${c[0]}" => { rate = c[0], schedule = c[1] }
  }
}

step "train" "grid" {
  for_each       = local.grid
  model          = step.random_t5.toy.model
  ids            = step.atomic_ids.toy.ids
  corpus         = step.import_corpus.toy.corpus
  queries        = step.import_corpus.toy.queries
  tokenizer      = step.download.tokenizer.files
  max_input      = 64
  optimizer      = "adamw"
  weight_decay   = 0.01
  learning_rate  = each.value.rate
  schedule       = each.value.schedule
  warmup         = 10
  clip_norm      = 1
  steps          = var.steps
  batch          = 32
  evaluate_every = ceil(var.steps / 10)
  patience       = 5
  resources { queue = "cpu" }
}

step "best_model" "grid" {
  candidates = {
    for name, t in step.train.grid : name => { dev = t.report, model = t.model, ids = step.atomic_ids.toy.ids }
  }
}

step "evaluate" "test" {
  model     = step.best_model.grid.model
  ids       = step.best_model.grid.ids
  queries   = step.import_corpus.toy.queries
  tokenizer = step.download.tokenizer.files
  split     = "test"
  resources { queue = "cpu" }
}

table "test" {
  caption = "The configuration that is best on development queries, on test queries (%)."
  stubs   = ["Training"]
  columns = concat(
    [{ id = "chosen", title = "Chosen", from = "choice", field = "chosen", format = "text" }],
    [for f, title in { hits_1 = "H@1", hits_10 = "H@10", mrr_10 = "MRR@10" } : { id = f, title = title, from = "test", field = "percent.post_filtered.${f}", format = "fixed", decimals = 1 }],
  )
  rows = [{ id = "best", titles = ["Best of ${length(local.grid)}"], values = { choice = step.best_model.grid.report, test = step.evaluate.test.report } }]
}

figure "grid" {
  caption = "Development queries while training."
  x       = { title = "Updates" }
  y       = { title = "MRR@10 (%)", scale = 100 }
  curves  = { y = "metrics.MRR@10", of = { for name, t in step.train.grid : name => t.curve } }
}
