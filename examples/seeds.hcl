# Another seed set: T5-Small, which the paper trains once, with three seeds on NQ320K-Title/NciNorm. Cells are mean ± std.
# Beside pipelines.hcl: cp examples/seeds.hcl . && redsi plan

locals {
  # The paper's runs of this model with another seed each. Those of seed 42 have the paper's key: they are not trained again.
  seeded = {
    for name, v in product({ identifier = keys(local.identifiers), seed = [42, 43, 44] }) :
    name => merge(local.runs["title/nci_norm/small/${v.identifier}/42"], { seed = v.seed, paper = "title/nci_norm/small/${v.identifier}/42" })
  }
}

step "train" "seeded" {
  for_each       = local.seeded
  model          = local.t5.small
  ids            = local.ids[each.value.paper]
  corpus         = step.serialize.nq["title/nci_norm"].corpus
  queries        = step.dedup.nq["title"].queries
  tokenizer      = step.download.t5_tokenizer.files
  max_input      = local.max_input[each.value.max_input]
  learning_rate  = local.learning_rate[each.value.learning_rate]
  warmup         = local.warmup[each.value.warmup]
  seed           = each.value.seed
  steps          = local.training.steps
  batch          = local.training.batch
  evaluate_every = local.training.evaluate_every
  precision      = local.training.precision
  resources { queue = local.queue }
}

step "evaluate" "seeded" {
  for_each  = local.seeded
  model     = step.train.seeded[each.key].model
  ids       = local.ids[each.value.paper]
  queries   = step.dedup.nq["title"].queries
  tokenizer = step.download.t5_tokenizer.files
  resources { queue = local.queue }
}

table "seeded" {
  caption = "T5-Small over three seeds, NQ320K-Title/NciNorm."
  scale   = var.scale
  stubs   = ["Identifier"]
  columns = [for m, title in local.metrics : { id = m, title = title, field = "percent.post_filtered.${m}", format = "fixed", decimals = 1, std = true }]
  rows    = [for id, title in local.identifiers : { id = id, titles = [title], value = [for seed in [42, 43, 44] : step.evaluate.seeded["${id}/${seed}"].report] }]
}
