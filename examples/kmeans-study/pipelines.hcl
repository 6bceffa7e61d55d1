# Does a careful start matter to k-means? A study of one table, on points that
# it generates. Each program is an awk script beside this file, run by the kind
# `command`; nothing here is about retrieval.
#
#   redsi run  -f examples/kmeans-study/pipelines.hcl
#   redsi plan -f examples/kmeans-study/pipelines.hcl --var seeds=12   # only what two more seeds need

variable "seeds" { default = 10 }

locals {
  starts  = { random = "Random points", plus = "k-means++" }
  spreads = { tight = 0.15, wide = 0.35 }
  seeds   = range(1, var.seeds + 1)
}

# 600 points around six centres on a circle, with the centre each belongs to.
step "command" "points" {
  for_each = local.spreads
  argv     = ["awk", "-f", "points.awk", "-v", "n=600", "-v", "spread=${each.value}"]
  files    = { "points.awk" = file("points.awk") }
  outputs  = ["points.csv"]
}

# One fit per start, data set and seed: 40 steps, each cached by itself.
step "command" "fit" {
  for_each = product({ start = keys(local.starts), points = step.command.points, seed = local.seeds })
  argv     = ["awk", "-f", "kmeans.awk", "-v", "k=6", "-v", "start=${each.value.start}", "-v", "seed=${each.value.seed}", "in/points/points.csv"]
  files    = { "kmeans.awk" = file("kmeans.awk") }
  inputs   = { points = each.value.points.out }
  outputs  = ["metrics.json", "centres.csv"]
}

table "starts" {
  paper   = "tab:kmeans-starts"
  caption = "k-means with k = 6 on 600 points, mean ± standard deviation over ${var.seeds} seeds."
  scale   = var.seeds == 10 ? "full" : "other seeds"
  stubs   = ["Points", "Start"]
  columns = [
    { id = "inertia", title = "Inertia", format = "fixed", decimals = 1, std = true, best = "min" },
    { id = "purity", title = "Purity", format = "fixed", decimals = 3, std = true, best = "max" },
    { id = "iterations", title = "Iterations", format = "fixed", decimals = 1, std = true },
  ]
  rows = [for c in setproduct(keys(local.spreads), keys(local.starts)) : {
    id      = "${c[0]}_${c[1]}"
    titles  = [c[0], local.starts[c[1]]]
    compare = c[0]
    value   = [for s in local.seeds : step.command.fit["${c[1]}/${c[0]}/${s}"].out]
    at      = "metrics.json:"
  }]

  # What the study found when it was written; a script that is edited shows here.
  expect "tight_plus.purity" { value = 0.966 }
  expect "tight_random.purity" { value = 0.899 }
  expect "wide_plus.purity" { value = 0.864 }
  expect "wide_random.purity" { value = 0.817 }
}

figure "starts" {
  caption = "Purity against inertia, mean of ${var.seeds} seeds."
  scale   = var.seeds == 10 ? "full" : "other seeds"
  x       = { title = "Inertia", min = 20, max = 140 }
  y       = { title = "Purity", min = 0.7, max = 1.05 }
  series = [for start, marker in { random = "circle", plus = "square" } : {
    id     = start
    title  = local.starts[start]
    color  = start == "plus" ? "atomic" : "naive"
    marker = marker
    points = [for spread in keys(local.spreads) : {
      id = spread
      x  = { value = [for s in local.seeds : step.command.fit["${start}/${spread}/${s}"].out], field = "metrics.json:inertia" }
      y  = { value = [for s in local.seeds : step.command.fit["${start}/${spread}/${s}"].out], field = "metrics.json:purity" }
    }]
  }]
}
