# Tests of the study: redsi test examples/kmeans-study

run "one fit per start, data set and seed" {
  variables { seeds = 3 }

  assert {
    condition     = length(step.command.fit) == 2 * 2 * var.seeds
    error_message = "There are not two starts and two data sets for each of ${var.seeds} seeds."
  }
  assert {
    condition     = contains(keys(step.command.fit), "plus/tight/3")
    error_message = "The third seed has no fit."
  }
  assert {
    condition     = alltrue([for f in values(step.command.fit) : contains(f.config.outputs, "metrics.json")])
    error_message = "A fit does not write its numbers."
  }
  assert {
    condition     = plan.run == 2 && plan.hit == 0
    error_message = "In an empty store the points must run, and nothing else is known."
  }
}

run "k-means++ is not worse" {
  command = apply
  targets = ["table.starts"]
  variables { seeds = 2 }

  assert {
    condition     = table.starts.rows["tight_plus"].purity >= table.starts.rows["tight_random"].purity
    error_message = "Careful starts should not have a lower purity."
  }
  assert {
    condition     = length(split("\n", chomp(step.command.points["tight"].outputs.out.files["points.csv"].text))) == 600
    error_message = "There are not 600 points."
  }
}

run "nothing is left to do" {
  targets = ["table.starts"]
  variables { seeds = 2 }

  assert {
    condition     = plan.hit == length(plan.steps)
    error_message = "A second run would do something again."
  }
}
