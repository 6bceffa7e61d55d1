#var scale=full

# Of a conditional only the branch that is taken has to make sense: the other
# may ask for an instance that there is not at this scale.
variable "scale" {}

locals {
  full = var.scale == "full"
  file = local.full ? step.download.nq["train"].file : step.extract.synth["toy"].records
}

step "download" "nq" {
  for_each = local.full ? { train = "t" } : {}
  url      = each.value
}

step "extract" "synth" {
  for_each = local.full ? [] : ["toy"]
  shards   = []
}

step "extract" "train" {
  shards = local.file
}

step "extract" "all" {
  shards = [for k, v in merge(step.download.nq, step.extract.synth) : try(v.file, v.records)]
}

table "optional" {
  data = try(step.extract.synth["toy"].audit, [])
}

# Outputs of one step under names of their own are several values, not that step.
table "named" {
  for_each = { left = step.extract.train.records, right = step.extract.train.audit }
  data     = each.value
}
