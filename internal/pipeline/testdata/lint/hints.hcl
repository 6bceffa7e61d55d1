variable "unused" { default = 1 }

locals {
  idle  = 1
  names = ["a", "b"]
  all   = [for step in local.names : "${step}"]
  keyed = { for k in local.all : k => { "${k}" = k, (k) = "${k}!" } }
}

module "other" { source = "./other" }

step "download" "unread" { url = "https://lab.example.org/a" }

step "download" "one" {
  for_each = toset(["a"])
  url      = each.key
}

step "download" "same" {
  for_each = local.names
  url      = "https://lab.example.org/b"
}

# A switch, and instances that differ within a block only: no hints.
step "download" "maybe" {
  for_each = length(local.names) > 1 ? ["only"] : []
  url      = "https://lab.example.org/c"
}

table "drawn" {
  for_each = local.keyed
  expect "a" { value = length(each.value) }
}

step "extract" "maybe" { shards = step.download.maybe[*].file }

step "extract" "a" { shards = concat(step.download.one[*].file, step.download.same[*].file) }

step "extract" "b" {
  split  = "train"
  shards = concat(step.download.one[*].file, step.download.same[*].file)
}
