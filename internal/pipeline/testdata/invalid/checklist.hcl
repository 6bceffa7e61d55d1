checklist {
  selection = ["best"]
  search    = { rate = 1, warmup = null, (local.x) = "no" }
  select    = "best"
  acl       = { A1 = "yes", A9 = [] }
  neurips   = "1"

  dataset "nq" {
    licence   = "CC"
    languages = "en"
    inner {
    }
  }
  dataset "nq" {
  }
  data "nq" {
  }
  model {
  }
}

locals {
  x = "A.1"
}

checklist {
}

checklist "second" {
}
