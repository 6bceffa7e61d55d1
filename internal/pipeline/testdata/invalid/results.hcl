variable "host" {
  default = "https://example.org"
}

variable "token" {
  sensitive = true
  default   = "hunter2"
}

locals {
  host = "https://example.org"
}

results {
  from      = ["${var.host}/paper", local.host]
  revoked   = 7
  untrusted = "runs"
  trust     = var.token
  shared    = var.missing
  belief    = "use"
  more {
  }
}

results "second" {
}

results {
  from = ["x"]
}
