# A second paper: it builds on the first one, and on a collection in a file.
module "first" {
  source = "./first"
  size   = "tiny"
  shard  = step.download.mine.file
}

module "part" {
  source   = "./collection/part.hcl"
  for_each = { a = 1, "b.c/\"d\"" = 2 }
  limit    = each.value
  split    = null # its default
}

step "download" "mine" {
  url = "https://lab.example.org/mine"
}

step "train" "again" {
  for_each = module.first.corpora
  corpus   = each.value
  size     = module.first.size
}

step "dedup" "all" {
  records = module.part["a"].records
  key     = "url"
}

table "parts" {
  data = concat([for k, m in module.part : m.records], module.part[*].records, [module.first.dedup["url"].counts])
}
