# Another budget of naive identifiers: numbers below 64 |D|, beside the largest of fig:budget-decoding.
# Beside pipelines.hcl: cp examples/budgets.hcl . && redsi plan

step "naive_ids" "sparse" {
  documents = step.dedup.nq["title"].documents
  tokenizer = step.download.t5_tokenizer.files
  times     = 64
}

step "train" "sparse" {
  model          = local.t5.base
  ids            = step.naive_ids.sparse.ids
  corpus         = step.serialize.nq["title/nci_norm"].corpus
  queries        = step.dedup.nq["title"].queries
  tokenizer      = step.download.t5_tokenizer.files
  max_input      = local.max_input[local.selected.naive.max_input]
  learning_rate  = local.learning_rate[local.selected.naive.learning_rate]
  warmup         = local.warmup[local.selected.naive.warmup]
  steps          = local.training.steps
  batch          = local.training.batch
  evaluate_every = local.training.evaluate_every
  precision      = local.training.precision
  resources { queue = local.queue }
}

step "evaluate" "sparse" {
  for_each  = { post_filtered = "unconstrained", trie = "constrained" }
  model     = step.train.sparse.model
  ids       = step.naive_ids.sparse.ids
  queries   = step.dedup.nq["title"].queries
  tokenizer = step.download.t5_tokenizer.files
  decoding  = each.value
  resources { queue = local.queue }
}

locals {
  budget_32x = local.budget_runs["32x"]
}

table "sparse" {
  caption = "Naive identifiers in sparse spaces, T5-Base, NQ320K-Title/NciNorm (%)."
  scale   = var.scale
  stubs   = ["b / |D|"]
  columns = concat(
    [for d, title in { post_filtered = "Post-filtered", trie = "Trie" } : { id = d, title = title, groups = ["MRR@10"], from = d, field = "percent.post_filtered.mrr_10", format = "fixed", decimals = 1 }],
    [{ id = "invalid_40", title = "Invalid@40", from = "post_filtered", field = "percent.invalid_40", format = "fixed", decimals = 1 }],
  )
  rows = [
    { id = "x32", titles = ["32"], values = { post_filtered = step.evaluate.dsi[local.budget_32x].report, trie = step.evaluate.trie[local.budget_32x].report } },
    { id = "x64", titles = ["64"], values = { for d in ["post_filtered", "trie"] : d => step.evaluate.sparse[d].report } },
  ]
}
