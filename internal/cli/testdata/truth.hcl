# What the generator knows and pipelines.hcl does not ask for. Read beside it by paper_test.go.

step "dedup_diagnostics" "nci_h1" {
  train     = step.extract.train.headers
  dev       = step.extract.dev.headers
  pages     = local.pages
  tokenizer = step.download.bert_tokenizer.files
  key       = "nci_h1"
}

# Text4K by another way: every record serialized, then compared.
step "dedup" "texts" {
  for_each   = { text4k = false, text4k_cased = true }
  train      = step.extract.train.headers
  dev        = step.extract.dev.headers
  key        = "corpus_text"
  texts      = step.serialize.simplified_records.corpus
  text_cased = each.value
}
