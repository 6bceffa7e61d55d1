# Another choice where the paper is silent: the longest snapshot of a page stands for it, not the first.
# Beside pipelines.hcl: cp examples/longest_text.hcl . && redsi plan

step "serialize" "simplified_records" {
  records = local.all_records
  form    = "simplified"
}

step "dedup" "longest" {
  train          = step.extract.train.headers
  dev            = step.extract.dev.headers
  pages          = local.pages
  texts          = step.serialize.simplified_records.corpus
  key            = "page_id"
  representative = "longest_text"
}
