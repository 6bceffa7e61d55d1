#var cores=4

# What steps ask for comes from variables and each; modules have limits of their own.
variable "cores" { default = 1 }

limits {
  downloads = var.cores - 2
  licences  = 1
}

step "download" "a" {
  for_each = { small = 1, large = 12.5 }
  url      = "${each.key}.gz"
  resources {
    cpus   = var.cores
    memory = "${each.value}GiB"
    time   = "1h30m"
    limits = each.key == "large" ? ["downloads", "licences", "downloads"] : null
  }
  retry {
    times  = 3
    memory = 1.5
  }
}

step "download" "b" {
  url = "b.gz"
  resources {
    gpus = 2
  }
}

step "download" "c" {
  url = "c.gz"
  resources {}
}

table "d" {
  data = [step.download.b.file]
  resources {
    gpus  = 1
    queue = "cpu"
  }
}
