# A value that a validation refuses is the one mistake; what follows from it is not told.

variable "scale" {
  default = "tiny"

  validation {
    condition     = contains(["full", "toy"], var.scale)
    error_message = "scale is full or toy."
  }
}

locals {
  sizes = { full = ["small", "base"], toy = ["tiny"] }[var.scale]
}

step "download" "model" {
  for_each = toset(local.sizes)
  url      = each.key
}

step "download" "after" {
  url = { full = "f", toy = "t" }[var.scale]
}

step "extract" "model" {
  shards = step.download.model["tiny"].file
}
