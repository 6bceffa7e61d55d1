# A new deduplication key: two snapshots are one document if their HtmlNorm texts begin alike.
# Beside pipelines.hcl: cp examples/text_key.hcl . && redsi plan

step "serialize" "every_record" {
  records      = local.all_records
  form         = "htmlnorm"
  t5_tokenizer = step.download.t5_tokenizer.files
}

step "dedup" "html_text" {
  train      = step.extract.train.headers
  dev        = step.extract.dev.headers
  key        = "corpus_text"
  texts      = step.serialize.every_record.corpus
  text_limit = 2000
}

table "text_keys" {
  caption = "Documents when HtmlNorm's text is compared instead of the simplified one."
  stubs   = ["Key"]
  columns = [for id in ["train", "dev", "union"] : { id = id, title = title(id), format = "integer" }]
  rows = [
    { id = "simplified", titles = ["Text4K"], value = step.dedup.nq["text4k"].counts, at = "documents" },
    { id = "html_norm", titles = ["HtmlNorm, 2,000"], value = step.dedup.html_text.counts, at = "documents" },
  ]
}
