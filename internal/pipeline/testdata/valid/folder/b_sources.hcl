#varfile lab.json {"mirror": {"host": "lab.example.org", "tls": true}}
#env REDSI_VAR_mirror={ host = "ignored", tls = false }
variable "mirror" {
  type = object({ host = string, tls = bool })
}

variable "note" {
  type    = string
  default = null
}

locals {
  files = sort(keys(jsondecode(file("data/shards.json"))))
}

step "download" "shard" {
  for_each = jsondecode(file("./data/../data/shards.json"))
  url      = "${var.mirror.tls ? "https" : "http"}://${var.mirror.host}/${each.value.path}"
  sha256   = try(each.value.sha256, var.note, "")
}
