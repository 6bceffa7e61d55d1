variable "host" {
  default = 7
}

limits {
  downloads = 2
  nothing   = 0
  half      = 0.5
  texts     = "two"
  later     = local.x
  none      = null
  inner {
  }
}

limits {
  again = 1
}

locals {
  x = 1
}

step "download" "a" {
  url = "nq"
  resources {
    cpus   = 0
    memory = "12"
    gpus   = -1
    time   = "2 hours"
    queue  = "fast"
    limits = ["downloads", "download", var.host]
    disk   = "1GB"
  }
  retry {
    memory = 0.5
  }
}

step "download" "b" {
  url       = "nq"
  retry     = 3
  resources {
    cpus   = 1.5
    memory = "12,5GB"
    gpus   = "one"
    time   = "10ms"
    limits = "downloads"
  }
  retry {
    times  = 3
    memory = 2
  }
  retry {
    times = 99
  }
}

step "download" "c" {
  url = "nq"
  resources {
    memory = "-1GB"
  }
  retry {
    times = 99
  }
}

step "download" "d" {
  url = "nq"
  retry {
    times  = 1
    memory = 2
  }
}

table "e" {
  retry {
    times = 1
  }
}
