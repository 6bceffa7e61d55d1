# Models that model_opens.py made, trained for forty updates and exported: what it opens by transformers 4.44.1 and 5.24.0.

variable "bases" {
  description = "Folder that model_opens.py make filled by both versions."
}

locals {
  tokenizers = { t5 = "../../assets/tokenizers/t5-tokenizer.json.gz", bart = "../../internal/model/subword/testdata/bart-tokenizer.json" }
  first      = { t5 = 32100, bart = 600 }
  bases = merge(
    { for b in ["by4/t5", "by4/t5_1_1", "by4/mt5", "by5/t5", "by5/t5_1_1", "by5/t5_1_1_bf16", "by5/mt5"] : b => "t5" },
    { for b in ["by4/bart", "by5/bart"] : b => "bart" },
  )
  ids = merge(
    { for t in ["t5", "bart"] : "${t} naive" => step.naive_ids.all[t].ids },
    { for t in ["t5", "bart"] : "${t} atomic" => step.atomic_ids.all[t].ids },
    { "t5 residual" = step.residual_ids.all.ids },
  )
  models = merge([for b, t in local.bases : {
    for kind in concat(["naive", "atomic"], b == "by5/t5_1_1" ? ["residual"] : []) :
    "${replace(b, "/", "-")}-${kind}" => { base = b, sort = t, ids = "${t} ${kind}", ends = "full" }
  }]...)
  searches = merge(local.models, {
    for ends in ["heuristic", "never"] : "by5-t5-naive-${ends}" => { base = "by5/t5", sort = "t5", ids = "t5 naive", ends = ends }
  })
}

source "bases" { path = var.bases }

step "download" "tokenizer" {
  for_each = local.tokenizers
  urls     = [each.value]
}

step "download" "collection" {
  urls = [for f in ["docs", "doctrain-queries", "doctrain-qrels", "docdev-queries", "docdev-qrels"] : "../../examples/msmarco/msmarco-${f}.tsv.gz"]
}

step "import_corpus" "toy" {
  files = step.download.collection.files
  form  = "title_content"
  keep  = "relevant"
  empty = "drop_body"
  limit = { train = 40, dev = 8 }
}

step "export" "toy" {
  documents = step.import_corpus.toy.documents
  queries   = step.import_corpus.toy.queries
  corpus    = step.import_corpus.toy.corpus
  formats   = ["trec"]
  name      = "toy"
  key       = "exact"
  origin    = "generated"
}

step "import_model" "all" {
  for_each  = local.bases
  files     = [source.bases.files]
  folder    = each.key
  tokenizer = step.download.tokenizer[each.value].files
}

step "naive_ids" "all" {
  for_each  = local.tokenizers
  documents = step.import_corpus.toy.documents
  tokenizer = step.download.tokenizer[each.key].files
  times     = 3
}

step "atomic_ids" "all" {
  for_each    = local.first
  documents   = step.import_corpus.toy.documents
  first_token = each.value
}

step "embed_hashing" "toy" {
  corpus = step.import_corpus.toy.corpus
  title  = false
}

step "residual_ids" "all" {
  documents    = step.import_corpus.toy.documents
  embeddings   = step.embed_hashing.toy.embeddings
  t5_tokenizer = step.download.tokenizer["t5"].files
  codes        = 8
}

step "train" "all" {
  for_each       = local.searches
  model          = step.import_model.all[each.value.base].model
  ids            = local.ids[each.value.ids]
  corpus         = step.import_corpus.toy.corpus
  queries        = step.import_corpus.toy.queries
  tokenizer      = step.download.tokenizer[each.value.sort].files
  learning_rate  = 0.01
  steps          = 40
  batch          = 16
  evaluate_every = 40
  early_stopping = each.value.ends
}

step "evaluate" "all" {
  for_each  = local.searches
  model     = step.train.all[each.key].model
  ids       = local.ids[each.value.ids]
  queries   = step.import_corpus.toy.queries
  tokenizer = step.download.tokenizer[each.value.sort].files
}

step "export_model" "all" {
  for_each  = local.searches
  model     = step.train.all[each.key].model
  ids       = local.ids[each.value.ids]
  tokenizer = step.download.tokenizer[each.value.sort].files
  reports   = [step.evaluate.all[each.key].report]
  labels    = ["dev"]
  name      = each.key
}
