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

run "a sample trains the smallest model on each variant once" {
  variables {
    scale   = "sample"
    contact = "me@example.org"
  }

  assert {
    condition     = plan.kinds.train == 12 && alltrue([for name in keys(step.train.dsi) : strcontains(name, "/tiny/") && endswith(name, "/42")])
    error_message = "A sample has three types of identifiers, two collections and two serializations."
  }
  assert {
    condition     = length(step.evaluate.dsi) == 12 && keys(step.evaluate.trie) == ["title/nci_norm/tiny/naive/42", "title/nci_norm/tiny/semantic/42"]
    error_message = "Each model is asked, and those with beams along the trie, too."
  }
  assert {
    condition     = length(step.download.nq["train"].config.urls) == 1 && length(step.download.nq["dev"].config.urls) == 5 && keys(step.download.t5) == ["tiny"]
    error_message = "A sample downloads the development split, one train file and the smallest T5."
  }
  assert {
    condition     = keys(step.download.nq) == ["dev", "train"] && can(step.pages_api.nq["api"])
    error_message = "A sample needs neither the dump nor the simplified format."
  }
  assert {
    condition     = length(step.dedup.nq) == 10 && length(step.score.baselines) == 6
    error_message = "A sample has all collection tables, and baselines."
  }
  assert {
    condition     = alltrue([for name, s in step.train.dsi : s.config.steps == 600 && s.config.evaluate_every == 300 && s.config.precision == "fp32"])
    error_message = "A sample evaluates twice, and a card goes on with what processors made."
  }
  assert {
    condition     = step.train.dsi["title/nci_norm/tiny/atomic/42"].config.warmup == 6 && step.train.dsi["title/nci_norm/tiny/naive/42"].config.warmup == 0
    error_message = "The warmup of atomic identifiers is a hundredth of the updates, as in the paper."
  }
  assert {
    condition     = table.dedup_counts.config.scale == "sample" && table.substitution_totals.config.scale == "full"
    error_message = "What is of the development split alone is compared with the paper, and nothing else that depends on records."
  }
}

run "a sample of other files is compared with nothing" {
  variables {
    scale     = "sample"
    contact   = "me@example.org"
    nq_bucket = "https://example.org/nq"
  }

  assert {
    condition     = table.substitution_totals.config.scale == "sample"
    error_message = "Nobody knows what is in another bucket."
  }
}

run "a sample of the hub's files" {
  variables {
    scale   = "sample"
    contact = "me@example.org"
    nq_from = "hub"
  }

  assert {
    condition     = length(step.download.nq["train"].config.urls) == 6 && length(step.download.nq["dev"].config.urls) == 7
    error_message = "A fiftieth of 287 files is six of them."
  }
  assert {
    condition     = step.download.nq["dev"].config.bytes > 1.3e9 && step.download.nq["dev"].config.bytes < 1.4e9 && step.download.nq["train"].config.bytes > 1.1e9 && step.download.nq["train"].config.bytes < 1.2e9
    error_message = "What a file of the hub has is not what one of Google's has."
  }
  assert {
    condition     = endswith(step.download.nq["dev"].config.urls[6], "/dev/validation-00006-of-00007.parquet") && table.substitution_totals.config.scale == "full"
    error_message = "The development split is the paper's, whole."
  }
}

run "all train files with fewer updates" {
  variables {
    scale        = "sample"
    sample_train = 50
    contact      = "me@example.org"
  }

  assert {
    condition     = plan.kinds.train == 12 && length(step.download.nq["train"].config.urls) == 50
    error_message = "The trainings of a sample on all files."
  }
  assert {
    condition     = table.dedup_counts.config.scale == "full" && table.smallest_models.config.scale == "sample"
    error_message = "With all files the collections are the paper's, and the models are not."
  }
}

run "the released code's reading of a sample" {
  variables {
    scale   = "sample"
    reading = "released"
    contact = "me@example.org"
  }

  assert {
    condition     = plan.kinds.train == 12
    error_message = "The reading changes no number of trainings."
  }
}
