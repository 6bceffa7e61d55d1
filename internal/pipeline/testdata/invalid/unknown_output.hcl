step "extract" "a" {
  shards = []
}

step "dedup" "nq" {
  for_each = ["h1", "url"]
  records  = step.extract.a.recods
  key      = each.key
}

step "train" "one" {
  corpus = step.dedup.nq.corpus
}

step "train" "two" {
  corpus = step.dedup.nq["ulr"].corpus
}

step "train" "three" {
  for_each = ["h1", "uri"]
  corpus   = step.dedup.nq[each.key].corpus
}

step "train" "four" {
  corpus = step.dedup.nq["h1"].corpsu
}

step "train" "five" {
  corpus = step.dedup.nq["h1"].corpus.lines
}

step "train" "six" {
  corpus = step.dedup.nq["h1"]
}

step "extract" "seven" {
  shards = step.dedup.nq[*].corpuss
}
