variable "host" {
  default = "https://example.org"
}

locals {
  host = "https://example.org"
}

results {
  from      = ["${var.host}/paper", local.host]
  trust     = ["alice", "bob:AAAA", "eve:MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbL"]
  revoked   = 7
  untrusted = "runs"
  shared    = ["use"]
  belief    = "use"
  more {
  }
}

results "second" {
}

results {
  from = ["x"]
}
