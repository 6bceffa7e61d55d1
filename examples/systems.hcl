# Generative retrieval systems side by side, on one collection, with one model, batch and number of updates.
# redsi run -f examples/systems.hcl
#
# docs/models.md says of each what was published, what is the same here and where it differs. The collection is made up,
# so that the scores say that all of this works, and nothing of the systems.

variable "queries" {
  description = "Training queries that are taken at most, and development queries for each ten of them."
  default     = 600
}

variable "steps" {
  description = "Updates of each model."
  default     = 150
}

locals {
  systems = {
    atomic   = { title = "Atomic", source = "DSI", ids = step.atomic_ids.documents.ids, queries = "own", ratio = "natural" }
    naive    = { title = "Naive", source = "DSI", ids = step.naive_ids.documents.ids, queries = "own", ratio = "natural" }
    semantic = { title = "Semantic", source = "DSI", ids = step.semantic_ids.documents.ids, queries = "own", ratio = "natural" }
    residual = { title = "Residual codes", source = "TIGER", ids = step.residual_ids.documents.ids, queries = "own", ratio = "natural" }
    title    = { title = "Title", source = "GENRE", ids = step.title_ids.documents.ids, queries = "own", ratio = "natural" }
    keyword  = { title = "Keywords", source = "term sets", ids = step.keyword_ids.documents.ids, queries = "own", ratio = "natural" }
    # Documents are known by generated queries alone, as in DSI-QG; then beside the labelled ones.
    dsi_qg     = { title = "Naive, generated queries", source = "DSI-QG", ids = step.naive_ids.documents.ids, queries = "generated", ratio = "0:1" }
    dsi_qg_own = { title = "Naive, generated and own queries", source = "DSI-QG", ids = step.naive_ids.documents.ids, queries = "both", ratio = "0:1" }
  }
  queries = {
    own       = step.import_corpus.documents.queries
    generated = step.generate_queries.documents["generated"].queries
    both      = step.generate_queries.documents["both"].queries
  }
}

step "download" "tokenizer" {
  urls    = ["../assets/tokenizers/t5-tokenizer.json.gz"]
  license = "Apache-2.0"
}

step "download" "collection" {
  urls = [for f in ["docs", "doctrain-queries", "doctrain-qrels", "docdev-queries", "docdev-qrels"] : "msmarco/msmarco-${f}.tsv.gz"]
}

step "import_corpus" "documents" {
  files = step.download.collection.files
  form  = "title_content"
  keep  = "relevant"
  empty = "drop_body"
  limit = { train = var.queries, dev = ceil(var.queries / 10) }
}

step "random_t5" "model" {
  layers  = 1
  d_model = 32
  d_kv    = 16
  d_ff    = 64
  heads   = 2
  dropout = 0
}

# doc2query: a model of its own learns to write the training query of a document's text.
step "train_queries" "documents" {
  model          = step.random_t5.model.model
  corpus         = step.import_corpus.documents.corpus
  queries        = step.import_corpus.documents.queries
  tokenizer      = step.download.tokenizer.files
  max_input      = 48
  max_query      = 16
  steps          = 4 * var.steps
  batch          = 32
  evaluate_every = var.steps
  learning_rate  = 0.01
}

step "generate_queries" "documents" {
  for_each     = { generated = false, both = true }
  documents    = step.import_corpus.documents.documents
  queries      = step.import_corpus.documents.queries
  corpus       = step.import_corpus.documents.corpus
  model        = step.train_queries.documents.model
  tokenizer    = step.download.tokenizer.files
  per_document = 4
  max_tokens   = 16
  keep_train   = each.value
}

step "embed_hashing" "documents" {
  corpus = step.import_corpus.documents.corpus
  title  = false
}

step "atomic_ids" "documents" {
  documents = step.import_corpus.documents.documents
}

step "naive_ids" "documents" {
  documents = step.import_corpus.documents.documents
  tokenizer = step.download.tokenizer.files
  times     = 3
}

step "semantic_ids" "documents" {
  documents  = step.import_corpus.documents.documents
  embeddings = step.embed_hashing.documents.embeddings
  tokenizer  = step.download.tokenizer.files
  leaf_size  = 10
}

step "residual_ids" "documents" {
  documents    = step.import_corpus.documents.documents
  embeddings   = step.embed_hashing.documents.embeddings
  t5_tokenizer = step.download.tokenizer.files
  codes        = 16
}

step "title_ids" "documents" {
  documents  = step.import_corpus.documents.documents
  corpus     = step.import_corpus.documents.corpus
  tokenizer  = step.download.tokenizer.files
  max_tokens = 8
}

step "keyword_ids" "documents" {
  documents  = step.import_corpus.documents.documents
  corpus     = step.import_corpus.documents.corpus
  tokenizer  = step.download.tokenizer.files
  words      = 3
  max_tokens = 8
}

step "train" "systems" {
  for_each       = local.systems
  model          = step.random_t5.model.model
  ids            = each.value.ids
  corpus         = step.import_corpus.documents.corpus
  queries        = local.queries[each.value.queries]
  tokenizer      = step.download.tokenizer.files
  ratio          = each.value.ratio
  learning_rate  = 0.01
  steps          = var.steps
  batch          = 32
  evaluate_every = var.steps
  beams          = 10
}

# Queries are the collection's own for all: what was generated is for training alone.
step "evaluate" "systems" {
  for_each  = local.systems
  model     = step.train.systems[each.key].model
  ids       = each.value.ids
  queries   = step.import_corpus.documents.queries
  tokenizer = step.download.tokenizer.files
  decoding  = "constrained"
  beams     = 10
}

table "systems" {
  caption = "Generative retrieval systems on one small collection, development queries (%)."
  stubs   = ["Identifier", "After"]
  columns = [for f, title in { hits_1 = "H@1", hits_10 = "H@10", mrr_10 = "MRR@10" } : { id = f, title = title, field = "percent.post_filtered.${f}", format = "fixed", decimals = 1 }]
  rows    = [for id in ["atomic", "naive", "semantic", "residual", "title", "keyword", "dsi_qg", "dsi_qg_own"] : { id = id, titles = [local.systems[id].title, local.systems[id].source], value = step.evaluate.systems[id].report }]
}

table "generated" {
  caption = "Queries that were generated."
  stubs   = ["Training queries"]
  columns = [for f, title in { generated = "Generated", kept = "Kept", leaks = "Leaks", repeated = "Repeated", documents_with_queries = "Documents" } : { id = f, title = title, format = "integer" }]
  rows    = [for id, title in { generated = "Generated alone", both = "Own and generated" } : { id = id, titles = [title], value = step.generate_queries.documents[id].report }]
}
