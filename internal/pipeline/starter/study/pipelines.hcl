# A small, complete study: how many random points does an estimate of pi need?
#
#   redsi run                  # runs what has no result yet; a second run has nothing to do
#   redsi plan --var seeds=8   # only what three more seeds need
#   redsi report               # results/report.html
#
# Make it yours: replace estimate.awk with your program, put your numbers into the table,
# and your claims into expect and claim. Edit anything: only what depends on it reruns.

# Set with --var seeds=8, a file of variables, REDSI_VAR_seeds or redsi.local.hcl.
variable "seeds" { default = 5 }

locals {
  points = { few = 100, some = 1600, many = 25600 }
  seeds  = range(1, var.seeds + 1)
}

# step KIND NAME. The kind `command` runs any program: it reads in/NAME for each of its
# `inputs` (such as step.command.OTHER.out), and writes its `outputs` into out/. for_each
# makes a step for each element, here step.command.estimate["few/1"] and 14 more; each is
# cached separately. `redsi kinds` lists the other kinds.
step "command" "estimate" {
  for_each = product({ points = keys(local.points), seed = local.seeds })
  argv     = ["awk", "-f", "estimate.awk", "-v", "n=${local.points[each.value.points]}", "-v", "seed=${each.value.seed}"]
  files    = { "estimate.awk" = file("estimate.awk") }
  outputs  = ["metrics.json"]
}

# A table reads numbers from JSON. A list of artifacts, one per seed, gives mean and standard
# deviation. `redsi trace table.errors:few.error` says where a number comes from.
table "errors" {
  paper   = "tab:errors" # its label in your paper
  caption = "Estimates of pi from random points, mean ± standard deviation over ${var.seeds} seeds."
  scale   = var.seeds == 5 ? "full" : "other seeds"
  stubs   = ["Points"]
  columns = [
    { id = "pi", title = "Estimate", format = "fixed", decimals = 3, std = true },
    { id = "error", title = "Error", format = "fixed", decimals = 3, std = true, best = "min" },
  ]
  rows = [for name in ["few", "some", "many"] : {
    id     = name
    titles = [format("%d", local.points[name])]
    value  = [for s in local.seeds : step.command.estimate["${name}/${s}"].out]
    at     = "metrics.json:"
  }]

  # What the paper says about a number. `redsi check` checks it, and so does each run.
  expect "many.pi" {
    value     = 3.142
    tolerance = 0.01
  }
}

# What the paper says about several numbers, in its words.
claim "more points, smaller errors" {
  text = "The error falls with the number of points."
  expect { order = [table.errors["few.error"], table.errors["some.error"], table.errors["many.error"]] }
}

figure "errors" {
  caption = "Error of the estimate, mean of ${var.seeds} seeds."
  x       = { title = "Points", log2 = true }
  y       = { title = "Error", min = 0 }
  series = [{
    id     = "error"
    title  = "Error"
    marker = "circle"
    points = [for name in ["few", "some", "many"] : {
      id = name
      x  = { number = local.points[name] }
      y  = { value = [for s in local.seeds : step.command.estimate["${name}/${s}"].out], field = "metrics.json:error" }
    }]
  }]
}
