locals {
  a = local.b
  b = [local.c]
  c = { x = local.a }
  d = local.d
}

step "dedup" "x" {
  records = step.extract.y.records
  key     = "url"
}

step "extract" "y" {
  shards = [for s in step.train.z : s.checkpoint]
}

step "train" "z" {
  for_each = ["a"]
  corpus   = step.dedup.x.corpus
}

# What only leads to a circle is not reported.
step "train" "after" {
  corpus = step.dedup.x.corpus
  size   = local.a
}
