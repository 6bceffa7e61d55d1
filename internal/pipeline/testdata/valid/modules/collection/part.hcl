variable "limit" {
  type = number
}

variable "split" {
  default = "dev"
}

step "download" "shard" {
  url = "https://lab.example.org/${var.limit}"
}

step "extract" "part" {
  shards = [step.download.shard.file]
  split  = var.split
  limit  = var.limit
}

output "records" {
  value = step.extract.part.records
}
