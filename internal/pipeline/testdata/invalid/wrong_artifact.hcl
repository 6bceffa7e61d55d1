step "download" "a" {
  url = "x"
}

step "extract" "b" {
  shards = [step.download.a.file, step.extract.b2.audit]
}

step "extract" "b2" {
  shards = step.download.a.file
}

step "dedup" "c" {
  records = step.download.a.file
  key     = "url"
}

table "t" {
  named = { a = step.dedup.c.counts, b = step.dedup.c.corpus }
}
