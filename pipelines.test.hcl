# Tests of the paper's pipeline at toy scale: redsi test pipelines.test.hcl
# Nothing is run; the keys of for_each and the configurations are what the paper says.

variables { scale = "toy" }

run "ten operators, four forms, three seeds" {
  assert {
    condition     = length(step.dedup.nq) == 10
    error_message = "tab:dedup-counts has ten operators."
  }
  assert {
    condition     = step.dedup.nq["text4k"].config.key == "text4k" && step.dedup.nq["text4k"].config.text_limit == 4000
    error_message = "text4k compares the first 4,000 characters of a text."
  }
  assert {
    condition     = plan.kinds.train == length(step.train.dsi)
    error_message = "A training is not one of step.train.dsi."
  }
}

run "one table needs no training" {
  targets = ["table.dedup_counts"]

  assert {
    condition     = !can(plan.kinds.train)
    error_message = "table.dedup_counts trains a model."
  }
  assert {
    condition     = plan.hit == 0 && plan.run >= 1
    error_message = "In an empty store there is nothing to run."
  }
}

run "the released code repeats documents by their queries" {
  variables { reading = "released" }

  assert {
    condition     = alltrue([for name, s in step.train.dsi : s.config.repeats == (endswith(name, "/ratio=1:1") ? "by_queries" : "uniform")])
    error_message = "repeats is by_queries where the ratio is 1:1, and there alone, so that both readings share all other trainings."
  }
}
