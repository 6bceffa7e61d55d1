# What a round runs: a layer of steps without inputs, one that reads them, a step that reads all, and a table of its numbers.
# shape.json, which the round writes, says how many there are.

variable "run" { default = "0" }

locals {
  shape = jsondecode(file("shape.json"))
  fast  = toset([for i in range(local.shape.fast) : "n${i}"])
  work  = { "work.sh" = file("work.sh") }
}

step "command" "fast" {
  for_each = local.fast
  argv     = ["sh", "work.sh", "fast-${each.key}", "0"]
  files    = local.work
  outputs  = ["text", "numbers.json"]
}

step "command" "slow" {
  for_each = toset([for i in range(local.shape.slow) : "n${i}"])
  argv     = ["sh", "work.sh", "slow-${each.key}", "${local.shape.tenths}"]
  files    = local.work
  outputs  = ["text", "numbers.json"]
}

step "command" "once" {
  for_each = toset([for i in range(local.shape.once) : "n${i}"])
  argv     = ["sh", "work.sh", "once-${each.key}", "0"]
  files    = local.work
  outputs  = ["text", "numbers.json"]
}

step "command" "next" {
  for_each = local.fast
  argv     = ["sh", "work.sh", "next-${each.key}", "1"]
  files    = local.work
  inputs   = { first = step.command.fast[each.key].out }
  outputs  = ["text", "numbers.json"]
}

step "command" "cut" {
  when    = local.shape.pieces > 0
  argv    = ["sh", "work.sh", "cut", "3", "${local.shape.pieces}"]
  files   = local.work
  outputs = ["text", "numbers.json", "pieces/"]
}

step "command" "piece" {
  for_each = local.shape.pieces > 0 ? files(step.command.cut.out, "pieces/*") : {}
  argv     = ["sh", "work.sh", "piece-${each.key}", "1"]
  files    = local.work
  inputs   = { piece = each.file }
  outputs  = ["text", "numbers.json"]
}

step "command" "own" {
  when    = local.shape.private
  argv    = ["sh", "work.sh", "own-${var.run}", "2"]
  files   = local.work
  outputs = ["text", "numbers.json"]
}

# A collection, in parts.
step "download" "few" {
  when = local.shape.corpus
  urls = ["documents-1.jsonl", "documents-2.jsonl", "documents-3.jsonl", "documents-4.jsonl", "queries.jsonl"]
}

step "import_corpus" "few" {
  when  = local.shape.corpus
  files = step.download.few.files
  keep  = "relevant"
}

# A small model's training, with an evaluation and a checkpoint at each tenth of its updates.
step "atomic_ids" "few" {
  when        = local.shape.updates > 0
  documents   = step.import_corpus.few.documents
  first_token = 64
}

step "download" "tokenizer" {
  when = local.shape.updates > 0
  urls = ["tokenizer.json"]
}

step "random_t5" "small" {
  when       = local.shape.updates > 0
  layers     = 2
  d_model    = 16
  d_kv       = 8
  d_ff       = 32
  heads      = 2
  vocabulary = 64
}

step "train" "small" {
  when           = local.shape.updates > 0
  model          = step.random_t5.small.model
  ids            = step.atomic_ids.few.ids
  corpus         = step.import_corpus.few.corpus
  queries        = step.import_corpus.few.queries
  tokenizer      = step.download.tokenizer.files
  steps          = local.shape.updates
  batch          = 4
  evaluate_every = local.shape.updates / 10
}

step "command" "all" {
  argv    = ["sh", "work.sh", "all", "1"]
  files   = local.work
  outputs = ["text", "numbers.json"]
  lists = { for name, of in {
    fast    = step.command.fast[*].out
    slow    = step.command.slow[*].out
    once    = step.command.once[*].out
    next    = step.command.next[*].out
    pieces  = local.shape.pieces > 0 ? step.command.piece[*].out : []
    corpora = local.shape.corpus ? [step.import_corpus.few.corpus] : []
  } : name => of if length(of) > 0 }
}

table "lines" {
  caption = "Lines that all steps left."
  stubs   = ["Step"]
  columns = [{ id = "lines", title = "Lines", format = "integer" }]
  rows    = [{ id = "all", titles = ["all"], value = step.command.all.out, at = "numbers.json:" }]
}
