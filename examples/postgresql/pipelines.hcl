# PostgreSQL's manual as a retrieval collection: BM25, a dense encoder and generative retrieval, on the same judgments,
# with significance. README.md says what the collection is, docs/studies.md what came out.
#
#   redsi run -f examples/postgresql/pipelines.hcl                       # scale quick: some 15 s on two cores, no network
#   redsi run -f examples/postgresql/pipelines.hcl --var scale=full      # hours; MiniLM comes from its hub
#
# 1. The collection   2. Baselines   3. Identifiers and models   4. Queries that nobody asked   5. Scores, table, figure

variable "scale" {
  description = "full: the study. quick: models that have hardly begun to learn, and hashed words for an encoder, to see that all of it runs."
  default     = "quick"
  validation {
    condition     = contains(["full", "quick"], var.scale)
    error_message = "scale is full or quick."
  }
}

variable "minilm" {
  description = "Folder or address of sentence-transformers/all-MiniLM-L6-v2, which scale full reads."
  default     = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
}

variable "checkpoint" {
  description = "Folder or address of a pretrained T5, such as https://huggingface.co/google/t5-efficient-tiny/resolve/main; empty: random weights."
  default     = ""
}

locals {
  full = var.scale == "full"

  # Chosen by development queries alone, on shorter runs: docs/studies.md says what was tried.
  training = {
    full  = { layers = 2, d_model = 128, heads = 4, d_ff = 512, steps = 3000, batch = 64, rate = 0.01, warmup = 200, every = 250, beams = 10 }
    quick = { layers = 1, d_model = 16, heads = 2, d_ff = 32, steps = 4, batch = 16, rate = 0.01, warmup = 2, every = 4, beams = 2 }
  }[var.scale]
  writing = {
    full  = { steps = 1500, batch = 32, every = 250, each = 5, tokens = 24 }
    quick = { steps = 4, batch = 8, every = 4, each = 1, tokens = 4 }
  }[var.scale]
}

# --- 1. The collection ----------------------------------------------------------------------------------------------

step "download" "manual" {
  for_each = {
    documents = "corpus.jsonl.gz", queries = "queries.jsonl.gz", sentences = "sentences.jsonl.gz"
    train     = "qrels/train.tsv", dev = "qrels/dev.tsv", test = "qrels/test.tsv"
  }
  urls    = [each.value]
  license = "PostgreSQL Licence"
}

step "import_corpus" "manual" {
  documents   = [step.download.manual["documents"].files]
  queries     = [step.download.manual["queries"].files]
  train_qrels = [step.download.manual["train"].files]
  dev_qrels   = [step.download.manual["dev"].files]
  test_qrels  = [step.download.manual["test"].files]
  form        = "title_content"
  on_missing  = "fail"
}

# What the splits share. The README says that no query is in two of them: this fails if it is not so.
step "overlap" "manual" {
  queries = step.import_corpus.manual.queries

  check "no test query is a training query" {
    field = "report:between.test_train.normalised"
    max   = 0
  }
  check "no test query is a development query" {
    field = "report:between.test_dev.normalised"
    max   = 0
  }
}

# --- 2. Baselines ---------------------------------------------------------------------------------------------------

# expanded: each document with the training queries that it is relevant for, as DSI-QG's authors compare.
step "bm25" "manual" {
  for_each = { plain = [], expanded = [step.import_corpus.manual.queries] }
  corpus   = step.import_corpus.manual.corpus
  queries  = step.import_corpus.manual.queries
  split    = "test"
  expand   = each.value
  depth    = 100
}

locals {
  minilm = {
    model = {
      "config.json"       = "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"
      "model.safetensors" = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    }
    tokenizer = { "tokenizer.json" = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037" }
  }
}

step "download" "minilm" {
  for_each = local.full ? local.minilm : {}
  urls     = [for f in keys(each.value) : "${var.minilm}/${f}"]
  sha256   = values(each.value)
  license  = "Apache-2.0"
}

# Of documents and of test queries, as its model card says: the mean of all tokens, of unit length, 256 tokens.
step "embed" "manual" {
  for_each   = local.full ? toset(["documents", "queries"]) : []
  corpus     = each.key == "documents" ? step.import_corpus.manual.corpus : null
  queries    = each.key == "queries" ? step.import_corpus.manual.queries : null
  split      = each.key == "queries" ? "test" : null
  title      = false # the text begins with it
  model      = step.download.minilm["model"].files
  tokenizer  = [step.download.minilm["tokenizer"].files]
  pooling    = "mean"
  normalize  = true
  max_tokens = 256
  resources { queue = "cpu" }
}

step "embed_hashing" "manual" {
  for_each = local.full ? [] : toset(["documents", "queries"])
  corpus   = each.key == "documents" ? step.import_corpus.manual.corpus : null
  queries  = each.key == "queries" ? step.import_corpus.manual.queries : null
  split    = each.key == "queries" ? "test" : null
  title    = false
}

locals {
  vectors = local.full ? step.embed.manual : step.embed_hashing.manual
}

step "dense" "manual" {
  embeddings       = local.vectors["documents"].embeddings
  query_embeddings = local.vectors["queries"].embeddings
  queries          = step.import_corpus.manual.queries
  split            = "test"
  depth            = 100
}

# --- 3. Identifiers and models --------------------------------------------------------------------------------------

step "download" "t5_tokenizer" {
  urls    = ["../../assets/tokenizers/t5-tokenizer.json.gz"]
  license = "BSD-3-Clause"
}

step "atomic_ids" "manual" {
  documents = step.import_corpus.manual.documents
}

step "naive_ids" "manual" {
  documents = step.import_corpus.manual.documents
  tokenizer = [step.download.t5_tokenizer.files]
  times     = 1
}

step "semantic_ids" "manual" {
  documents  = step.import_corpus.manual.documents
  embeddings = local.vectors["documents"].embeddings
  tokenizer  = [step.download.t5_tokenizer.files]
  leaf_size  = 10
}

step "download" "t5" {
  for_each = var.checkpoint == "" ? [] : ["checkpoint"]
  urls     = [for f in ["config.json", "pytorch_model.bin"] : "${var.checkpoint}/${f}"]
}

step "random_t5" "manual" {
  for_each = var.checkpoint == "" ? ["checkpoint"] : []
  layers   = local.training.layers
  d_model  = local.training.d_model
  d_kv     = 32
  d_ff     = local.training.d_ff
  heads    = local.training.heads
}

step "title_ids" "manual" {
  documents  = step.import_corpus.manual.documents
  corpus     = step.import_corpus.manual.corpus
  tokenizer  = [step.download.t5_tokenizer.files]
  max_tokens = 8
}

locals {
  start = var.checkpoint == "" ? step.random_t5.manual["checkpoint"].model : step.download.t5["checkpoint"].files
  own   = step.import_corpus.manual.queries

  # What each model learns to name documents by, and of which queries. ratio 0:1: documents are known by queries alone.
  systems = {
    atomic   = { title = "DSI, atomic", ids = step.atomic_ids.manual.ids, queries = local.own, ratio = "natural" }
    naive    = { title = "DSI, naive", ids = step.naive_ids.manual.ids, queries = local.own, ratio = "natural" }
    semantic = { title = "DSI, semantic", ids = step.semantic_ids.manual.ids, queries = local.own, ratio = "natural" }
    title    = { title = "Titles (GENRE)", ids = step.title_ids.manual.ids, queries = local.own, ratio = "natural" }
    said     = { title = "DSI, atomic, and sections' sentences", ids = step.atomic_ids.manual.ids, queries = step.generate_queries.said.queries, ratio = "natural" }
    dsi_qg   = { title = "DSI-QG, atomic", ids = step.atomic_ids.manual.ids, queries = step.generate_queries.manual.queries, ratio = "0:1" }
  }
}

step "train" "manual" {
  for_each       = local.systems
  model          = local.start
  ids            = each.value.ids
  corpus         = step.import_corpus.manual.corpus
  queries        = each.value.queries
  tokenizer      = [step.download.t5_tokenizer.files]
  max_input      = 32
  ratio          = each.value.ratio
  learning_rate  = local.training.rate
  warmup         = local.training.warmup
  steps          = local.training.steps
  batch          = local.training.batch
  evaluate_every = local.training.every
  beams          = local.training.beams
  resources { queue = "cpu" }
}

# Queries are the collection's own for all: what nobody asked is for training alone.
step "evaluate" "manual" {
  for_each  = local.systems
  model     = step.train.manual[each.key].model
  ids       = each.value.ids
  queries   = local.own
  tokenizer = [step.download.t5_tokenizer.files]
  split     = "test"
  decoding  = "constrained" # so that a ranking has as many documents as beams
  beams     = local.full ? 100 : 4
  resources { queue = "cpu" }
}

# --- 4. Queries that nobody asked ---------------------------------------------------------------------------------

# doc2query on the manual's own: a model learns to write a training query of a section's text, and then writes some for
# every section. Beside the own training queries they are what DSI-QG is trained on.
step "train_queries" "manual" {
  model          = local.start
  corpus         = step.import_corpus.manual.corpus
  queries        = local.own
  tokenizer      = [step.download.t5_tokenizer.files]
  max_input      = 64
  max_query      = 24
  learning_rate  = local.training.rate
  warmup         = local.training.warmup
  steps          = local.writing.steps
  batch          = local.writing.batch
  evaluate_every = local.writing.every
  resources { queue = "cpu" }
}

step "generate_queries" "manual" {
  documents    = step.import_corpus.manual.documents
  queries      = local.own
  corpus       = step.import_corpus.manual.corpus
  model        = step.train_queries.manual.model
  tokenizer    = [step.download.t5_tokenizer.files]
  per_document = local.writing.each
  max_tokens   = local.writing.tokens
  keep_train   = true
  resources { queue = "cpu" }
}

# What sections say themselves, in place of what a good model would write: a title and four sentences each.
step "generate_queries" "said" {
  documents  = step.import_corpus.manual.documents
  queries    = local.own
  files      = [step.download.manual["sentences"].files]
  keep_train = true
}

# --- 5. Scores, table, figure ---------------------------------------------------------------------------------------

locals {
  measures = ["nDCG@10", "MRR@10", "Hits@1", "Hits@10", "Recall@100"]

  # Every ranking of the test queries, as one map: what judges them does not know what they are.
  runs = merge(
    { bm25 = step.bm25.manual["plain"].run, bm25_expanded = step.bm25.manual["expanded"].run, dense = step.dense.manual.run },
    { for id in keys(local.systems) : id => step.evaluate.manual[id].run },
  )
  titles = merge(
    { bm25 = "BM25", bm25_expanded = "BM25, expanded with training queries", dense = local.full ? "Dense, MiniLM" : "Dense, hashed words" },
    { for id, s in local.systems : id => s.title },
  )
  order = ["bm25", "bm25_expanded", "dense", "atomic", "naive", "semantic", "title", "said", "dsi_qg"]
}

step "score" "manual" {
  for_each = local.runs
  run      = each.value
  qrels    = step.import_corpus.manual.test_qrels
  measures = local.measures
}

# Each system against BM25, query by query; Holm's correction for how many comparisons there are.
step "compare" "manual" {
  systems    = { for id in keys(local.runs) : id => step.score.manual[id].queries }
  baselines  = ["bm25"]
  measures   = local.measures
  test       = "t"
  correction = "holm"
}

table "systems" {
  caption = "Test queries of PostgreSQL's manual (%)."
  scale   = var.scale
  stubs   = ["System"]
  columns = [for m in [["nDCG@10", "ndcg_10"], ["MRR@10", "mrr_10"], ["Hits@1", "hits_1"], ["Hits@10", "hits_10"], ["R@100", "recall_100"]] :
    { id = m[1], title = m[0], field = "percent.${m[1]}", format = "fixed", decimals = 1, best = "max" }
  ]
  rows = [for id in local.order : { id = id, titles = [local.titles[id]], value = step.score.manual[id].report }]
  significance = {
    report  = step.compare.manual.report
    rows    = { for id in local.order : id => id }
    columns = { ndcg_10 = "ndcg_10", mrr_10 = "mrr_10", hits_1 = "hits_1", hits_10 = "hits_10", recall_100 = "recall_100" }
    letters = { bm25 = "a" }
  }
}

figure "curves" {
  caption = "Development queries of PostgreSQL's manual during training."
  scale   = var.scale
  x       = { title = "Updates" }
  y       = { title = "MRR@10 (%)", scale = 100 }
  curves  = { y = "metrics.MRR@10", of = { for id, t in step.train.manual : id => t.curve } }
}
