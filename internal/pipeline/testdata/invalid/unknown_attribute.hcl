step "extract" "a" {
  shrads = []
  shards = []
  split  = "dev"
  depends_on = [step.extract.b]
}

step "extract" "b" {
  shards = []
  resorces {
    queue = "gpu"
  }
}

step "extract" "c" {
  shards = []
  resources {
    que   = "gpu"
    queue = "tpu"
  }
}

table "t" {
  rows = [
    { label = "a", cels = [] },
    { cells = [] },
  ]
  expect "a.b" {
    valeu = 3
  }
}
