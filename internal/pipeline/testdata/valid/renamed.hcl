step "download" "nq" {
  url = "https://example.org/nq"
}

step "extract" "train" {
  shards = step.download.nq.file
}

step "dedup" "url" {
  records = step.extract.train.records
  key     = "url"
}

step "train" "as_before" {
  corpus = step.dedup.url.corpus
  tempo  = 3
}

step "train" "now" {
  corpus = step.dedup.url.corpus
  pace   = 3
}
