# What the examples of `redsi kinds` refer to: TestExamples takes the blocks that one needs.
# Kinds that this build does not have are passed over until an example needs them.
variable "tree" { default = "" } # of this repository
variable "data" { default = "" } # files that the test writes

locals {
  seed_runs = [for form in ["nci_norm", "html_norm"] : { name = "title/${form}", identifier = "naive", form = form, collection = "title", seed = 42 }]
}

step "download" "bert_tokenizer" { urls = ["${var.tree}/assets/tokenizers/bert-base-uncased-tokenizer.json.gz"] }
step "download" "t5_tokenizer" { urls = ["${var.tree}/assets/tokenizers/t5-tokenizer.json.gz"] }
step "download" "nq_train" { urls = ["${var.tree}/internal/corpora/nq/testdata/real-pages-train-full.jsonl.gz"] }
step "download" "nq" {
  for_each = { train = "train-full", dev = "dev-full", simplified = "train-simplified" }
  urls     = ["${var.tree}/internal/corpora/nq/testdata/real-pages-${each.value}.jsonl.gz"]
}
step "download" "stub" { urls = ["${var.tree}/internal/corpora/wikipedia/testdata/real-pages-stub.xml.gz"] }
step "download" "revisions" { urls = ["${var.data}/revisions.csv"] }
step "download" "msmarco" {
  for_each = { docs = "docs", train_queries = "queries", train_qrels = "qrels", dev_queries = "queries", dev_qrels = "qrels" }
  urls     = ["${var.data}/msmarco-${each.value}.tsv"]
}
step "download" "mine" {
  for_each = ["documents", "queries", "qrels"]
  urls     = ["${var.data}/mine-${each.key}.${each.key == "qrels" ? "tsv" : "jsonl"}"]
}
step "download" "splade_run" { urls = ["${var.data}/splade.run"] }
step "download" "trec_dl" { urls = ["${var.data}/trec_dl.qrels"] }
step "download" "bert" { urls = ["${var.data}/revisions.csv"] }
step "download" "t5_small" { urls = ["${var.data}/revisions.csv"] }
step "download" "published" { urls = ["${var.data}/revisions.csv"] }
step "download" "vectors" { urls = ["${var.data}/revisions.csv"] }
step "download" "names" { urls = ["${var.data}/revisions.csv"] }
step "download" "theirs" { urls = ["${var.data}/revisions.csv"] }
step "download" "flan" { urls = ["${var.data}/revisions.csv"] }

step "extract" "train" {
  files = step.download.nq["train"].files
  split = "train"
}
step "extract" "dev" {
  files = step.download.nq["dev"].files
  split = "dev"
}
step "extract" "train_simplified" {
  files = step.download.nq["simplified"].files
  split = "train"
}
step "pages" "nq" {
  headers = [step.extract.train.headers, step.extract.dev.headers]
  dump    = step.download.stub.files
}
step "page_table" "nq" { table = step.download.revisions.files }
step "dedup" "nq" {
  for_each  = ["page_id", "title", "url"]
  train     = step.extract.train.headers
  dev       = step.extract.dev.headers
  pages     = each.key == "page_id" ? step.pages.nq.table : null
  tokenizer = each.key == "title" ? step.download.bert_tokenizer.files : null
  key       = each.key
}
step "revision_variation" "nq" { records = [step.extract.train.records, step.extract.dev.records] }
step "serialize" "nq" {
  for_each     = { "page_id/html_norm" = ["page_id", "htmlnorm"], "title/nci_norm" = ["title", "ncinorm"], "title/html_norm" = ["title", "htmlnorm"] }
  records      = [step.extract.train.records, step.extract.dev.records]
  documents    = step.dedup.nq[each.value[0]].documents
  form         = each.value[1]
  t5_tokenizer = step.download.t5_tokenizer.files
}
step "serialize" "html_norm" {
  records      = [step.extract.train.records, step.extract.dev.records]
  documents    = step.dedup.nq["page_id"].documents
  form         = "htmlnorm"
  t5_tokenizer = step.download.t5_tokenizer.files
}
step "serialize" "nci_norm" {
  records      = [step.extract.train.records, step.extract.dev.records]
  documents    = step.dedup.nq["page_id"].documents
  form         = "ncinorm"
  t5_tokenizer = step.download.t5_tokenizer.files
}
step "package" "published" { files = step.download.published.files }
step "import_corpus" "passages" {
  documents = step.download.mine["documents"].files
  queries   = step.download.mine["queries"].files
  dev_qrels = step.download.mine["qrels"].files
}

step "atomic_ids" "nq" {
  for_each  = ["title"]
  documents = step.dedup.nq["title"].documents
}
step "naive_ids" "page_id" {
  budget    = 320000
  documents = step.dedup.nq["page_id"].documents
  tokenizer = step.download.t5_tokenizer.files
}
step "naive_ids" "nq" {
  for_each  = ["title/dsi"]
  budget    = 320000
  documents = step.dedup.nq["title"].documents
  tokenizer = step.download.t5_tokenizer.files
}
step "embed" "title" {
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  documents = step.dedup.nq["title"].documents
  model     = step.download.bert.files
  tokenizer = step.download.bert_tokenizer.files
}
step "embed" "title_dev" {
  queries   = step.dedup.nq["title"].queries
  split     = "dev"
  model     = step.download.bert.files
  tokenizer = step.download.bert_tokenizer.files
}
step "semantic_ids" "title" {
  documents  = step.dedup.nq["title"].documents
  embeddings = step.embed.title.embeddings
  tokenizer  = step.download.t5_tokenizer.files
}
step "train" "dsi" {
  for_each  = concat(["semantic/42", "title/nci_norm/base/naive/42"], [for p in product({ id = ["atomic", "naive", "semantic"], size = ["tiny", "small", "base"] }) : "${p.id}/${p.size}"])
  model     = step.download.t5_small.files
  ids       = step.atomic_ids.nq["title"].ids
  corpus    = step.serialize.nq["title/html_norm"].corpus
  queries   = step.dedup.nq["title"].queries
  tokenizer = step.download.t5_tokenizer.files
  steps     = 100
}
step "train" "grid" {
  for_each  = ["0.001", "0.0001"]
  model     = step.download.t5_small.files
  ids       = step.atomic_ids.nq["title"].ids
  corpus    = step.serialize.nq["title/html_norm"].corpus
  queries   = step.dedup.nq["title"].queries
  tokenizer = step.download.t5_tokenizer.files
  steps     = 100
}
step "train_queries" "title" {
  model     = step.download.t5_small.files
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  queries   = step.dedup.nq["title"].queries
  tokenizer = step.download.t5_tokenizer.files
}
step "evaluate" "dsi" {
  for_each = concat(["title/nci_norm", "title/html_norm", "title/42", "title/43", "title/nci_norm/base/naive/42"],
  [for p in product({ id = ["atomic", "naive", "semantic"], size = ["tiny", "small", "base"] }) : "${p.id}/${p.size}"])
  model     = step.train.dsi["semantic/42"].model
  ids       = step.atomic_ids.nq["title"].ids
  queries   = step.dedup.nq["title"].queries
  tokenizer = step.download.t5_tokenizer.files
}
step "evaluate" "grid" {
  for_each  = ["0.001", "0.0001"]
  model     = step.train.grid[each.key].model
  ids       = step.atomic_ids.nq["title"].ids
  queries   = step.dedup.nq["title"].queries
  tokenizer = step.download.t5_tokenizer.files
}
step "bm25" "title" {
  corpus  = step.serialize.nq["title/nci_norm"].corpus
  queries = step.dedup.nq["title"].queries
}
step "bm25" "dev" {
  corpus  = step.import_corpus.passages.corpus
  queries = step.import_corpus.passages.queries
}
step "dense" "dev" {
  embeddings       = step.embed.title.embeddings
  query_embeddings = step.embed.title_dev.embeddings
  queries          = step.dedup.nq["title"].queries
}
step "score" "dev" {
  for_each = ["bm25", "dense", "atomic"]
  run      = step.bm25.title.run
  qrels    = step.bm25.title.qrels
}
step "score" "dsi" {
  for_each = ["title/42", "title/43"]
  run      = step.evaluate.dsi[each.key].run
  qrels    = step.evaluate.dsi[each.key].qrels
}

step "command" "points" {
  script  = "echo 1,2 | tee out/points.csv"
  outputs = ["points.csv"]
}

table "dedup_counts" {
  stubs   = ["Key"]
  columns = [{ id = "union", title = "Union", format = "integer", field = "documents.union" }]
  rows    = [for k in ["url", "page_id"] : { id = k, titles = [k], value = step.dedup.nq[k].counts }]
}
