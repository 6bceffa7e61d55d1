variable "size" {
  type = string
  validation {
    condition     = contains(["tiny", "base"], var.size)
    error_message = "no such size"
  }
}

variable "shard" {
  type = any
}

locals {
  keys = ["url", "h1"]
}

module "names" {
  source = "./names"
  key    = "url"
}

step "extract" "nq" {
  shards = [var.shard]
}

step "dedup" "nq" {
  for_each = local.keys
  records  = step.extract.nq.records
  key      = each.key
  rename   = module.names.renamed
}

table "counts" {
  data = step.dedup.nq[*].counts
}

output "corpora" {
  description = "Documents by key."
  value       = { for key, d in step.dedup.nq : key => d.corpus }
}

output "dedup" {
  value = step.dedup.nq
}

output "size" {
  value = var.size
}
