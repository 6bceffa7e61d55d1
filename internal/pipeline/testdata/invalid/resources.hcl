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
    gpus   = -1
    queue  = "fast"
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
    gpus   = "one"
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

step "download" "f" {
  url = "nq"
  resources {
    memory = "12"
    time   = "2 hours"
    limits = ["downloads", "download", var.host]
  }
}

step "download" "g" {
  url = "nq"
  resources {
    memory = "12,5GB"
    time   = "10ms"
  }
}

table "e" {
  retry {
    times = 1
  }
}
