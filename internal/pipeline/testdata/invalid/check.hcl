step "extract" "a" {
  shards = []
}

step "dedup" "b" {
  records = step.extract.a.records
  key     = "page_id"
}

step "train" "c" {
  corpus  = step.dedup.b.corpus
  budgets = [10, 0, 20]
  rate    = 0
}

# The kind's own checks wait until what it is given is right.
step "train" "d" {
  corpus = step.dedup.b.corpus
  rate   = 0
  seed   = "x"
}
