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

step "train" "twice" {
  corpus = step.dedup.url.corpus
  tempo  = 3
  pace   = 4
}

step "train" "wrong" {
  corpus = step.dedup.url.corpus
  tempo  = "fast"
}
