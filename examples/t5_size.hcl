# Another T5 size, between Efficient-Tiny and Small: Efficient-Mini, 31M parameters, under each identifier type.
# Beside pipelines.hcl: cp examples/t5_size.hcl . && redsi plan

step "download" "t5_mini" {
  for_each = local.full ? ["google/t5-efficient-mini"] : []
  urls     = [for f in ["config.json", "pytorch_model.bin"] : "https://huggingface.co/${each.key}/resolve/main/${f}"]
  license  = "Apache-2.0"
}

step "random_t5" "mini" {
  for_each = local.full ? [] : ["mini"]
  layers   = 2
  d_model  = 40
  d_kv     = 16
  d_ff     = 160
  heads    = 2
  dropout  = 0
}

locals {
  # The paper's runs of T5-Efficient-Tiny, whose collection, identifiers and hyperparameters the new size takes over.
  mini_model = local.full ? step.download.t5_mini["google/t5-efficient-mini"].files : step.random_t5.mini["mini"].model
  mini       = { for id in keys(local.identifiers) : id => "title/nci_norm/tiny/${id}/42" }
}

step "train" "mini" {
  for_each       = local.mini
  model          = local.mini_model
  ids            = local.ids[each.value]
  corpus         = step.serialize.nq["title/nci_norm"].corpus
  queries        = step.dedup.nq["title"].queries
  tokenizer      = step.download.t5_tokenizer.files
  max_input      = local.max_input[local.selected[each.key].max_input]
  learning_rate  = local.learning_rate[local.selected[each.key].learning_rate]
  warmup         = local.warmup[local.selected[each.key].warmup]
  steps          = local.training.steps
  batch          = local.training.batch
  evaluate_every = local.training.evaluate_every
  precision      = local.training.precision
  resources { queue = local.queue }
}

step "evaluate" "mini" {
  for_each  = local.mini
  model     = step.train.mini[each.key].model
  ids       = local.ids[each.value]
  queries   = step.dedup.nq["title"].queries
  tokenizer = step.download.t5_tokenizer.files
  resources { queue = local.queue }
}

table "mini" {
  caption = "MRR@10 by size of the model, NQ320K-Title/NciNorm."
  scale   = var.scale
  stubs   = ["T5"]
  columns = [for id, title in local.identifiers : { id = id, title = title, from = id, field = "percent.post_filtered.mrr_10", format = "fixed", decimals = 1 }]
  rows = [
    { id = "tiny", titles = ["Eff.-Tiny"], values = { for id, run in local.mini : id => step.evaluate.dsi[run].report } },
    { id = "mini", titles = ["Eff.-Mini"], values = { for id, run in local.mini : id => step.evaluate.mini[id].report } },
  ]
}
