# Another serialization: pronunciations stay, navigation boxes too. How many prefixes does that change?
# Beside pipelines.hcl: cp examples/serializer_option.hcl . && redsi plan

step "serialize" "kept" {
  records      = local.all_records
  documents    = step.dedup.nq["page_id"].documents
  form         = "htmlnorm"
  t5_tokenizer = step.download.t5_tokenizer.files
  options = {
    pronunciation  = "keep"
    remove_classes = ["toc", "mw-editsection", "toctoggle", "mw-jump"]
  }
}

step "first_tokens" "kept" {
  a            = step.serialize.nq["page_id/html_norm"].corpus
  b            = step.serialize.kept.corpus
  t5_tokenizer = step.download.t5_tokenizer.files
}
