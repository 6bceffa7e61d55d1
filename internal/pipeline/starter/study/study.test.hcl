# Tests of the study: redsi test

run "one estimate for each number of points and seed" {
  variables { seeds = 2 }

  assert {
    condition     = length(step.command.estimate) == 3 * 2
    error_message = "There are not three numbers of points for each of ${var.seeds} seeds."
  }
}

run "an estimate is near pi" {
  command = apply
  targets = ["table.errors"]
  variables { seeds = 2 }

  assert {
    condition     = abs(table.errors.rows["many"].pi - 3.1416) < 0.05
    error_message = "25,600 points should be enough for one decimal."
  }
}
