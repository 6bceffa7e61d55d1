step "download" "a" {
  url = [7]
}

step "extract" "b" {
  shards = "a.gz"
  split  = "test"
  limit  = "10"
}

step "train" "c" {
  corpus  = step.dedup.d.corpus
  rate    = "fast"
  seed    = 1.5
  bf16    = 1
  budgets = [1, "two", 3]
}

step "dedup" "d" {
  records = step.extract.b.records
  key     = ["url"]
  rename  = { a = [1] }
}

table "t" {
  rows = [{ label = "a", cells = ["x", step.dedup.d.counts] }]
  expect "a" {
    value     = "1,000"
    tolerance = true
  }
}

step "command" "line" {
  argv    = "echo hi"
  inputs  = { a = file("wrong_type.txt"), b = "data/data.xml", c = ["x"] }
  outputs = "a.txt"
}
