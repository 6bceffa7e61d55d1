#var scale=full
#env REDSI_VAR_rate=0.002
#env REDSI_VAR_scale=ignored
#env REDSI_VAR_other_program=x
#varfile lab.hcl seeds = [1, 2]

# The shape of the whole paper in small.
variable "scale" { default = "toy" }
variable "rate" {
  type        = number
  default     = 0.001
  description = "Learning rate of every training."
  validation {
    condition     = var.rate > 0 && var.rate < 1
    error_message = "The rate is between 0 and 1."
  }
}
variable "seeds" {
  type    = list(number)
  default = [42]
}

locals {
  keys    = ["url", "h1"]
  sizes   = var.scale == "full" ? ["tiny", "base"] : ["tiny"]
  rows    = [for k, s in step.dedup.nq : { label = upper(k), cells = [s.counts] }]
  budgets = { tiny = [10, 20], base = [100] }
}

step "download" "nq" {
  for_each = toset([for i in range(2) : format("%02d", i)])
  url      = "https://example.org/nq-train-${each.key}.jsonl.gz"
}

step "extract" "train" {
  shards = step.download.nq[*].file
}

step "extract" "dev" {
  shards = step.download.nq["00"].file
  split  = "dev"
  limit  = 1e3
}

step "dedup" "nq" {
  for_each = toset(local.keys)
  records  = step.extract.train.records
  key      = each.key
}

step "dedup" "pages" {
  records = step.extract.train.records
  key     = "page_id"
  pages   = step.extract.dev.records
  rename  = { "a b" = "c", d = "e" }
}

step "train" "dsi" {
  for_each = product({
    size = local.sizes
    data = { url = step.dedup.nq["url"], pages = step.dedup.pages }
    seed = var.seeds
  })
  corpus  = each.value.data.corpus
  size    = each.value.size
  seed    = each.value.seed
  rate    = var.rate
  budgets = lookup(local.budgets, each.value.size, [])
  bf16    = null
  resources { queue = "gpu" }
}

# Its instances are those of another step.
step "train" "again" {
  for_each = { for k, s in step.train.dsi : k => s if startswith(k, "tiny/") }
  corpus   = step.dedup.pages.corpus
}

table "dedup_counts" {
  paper   = "tab:dedup-counts"
  caption = "Documents left by each key."
  rows    = local.rows
  named   = { for k, s in step.train.dsi : k => s.metrics }

  expect "text4k.train" {
    value     = 198918
    tolerance = 0
  }
  expect "url.train" { value = 0.1 + 0.2 }
}

figure "scaling" {
  data = concat(values(step.train.dsi)[*].metrics, [table.dedup_counts.markdown])
}
