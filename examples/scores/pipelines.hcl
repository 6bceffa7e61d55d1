# Runs of other programs, scored on the same judgments and compared: a table with superscripts of significance.
# redsi run -f examples/scores/pipelines.hcl
#
# The three runs and the judgments beside this file are made up, to show the forms.

locals {
  systems  = { keyword = "Keyword", vector = "Vector", generated = "Generated ids" }
  measures = { ndcg = "nDCG@10", mrr = "MRR@10", hits = "Hits@1" }
}

step "download" "files" {
  urls = concat([for name in keys(local.systems) : "${name}.run"], ["judgments.txt"])
}

step "import_run" "system" {
  for_each = local.systems
  files    = step.download.files.files
  file     = "${each.key}.run"
}

step "import_qrels" "judged" {
  files = step.download.files.files
  file  = "judgments.txt"
}

step "score" "system" {
  for_each = local.systems
  run      = step.import_run.system[each.key].run
  qrels    = step.import_qrels.judged.qrels
  measures = values(local.measures)
}

step "compare" "systems" {
  systems   = { for name in keys(local.systems) : name => step.score.system[name].queries }
  baselines = ["keyword", "vector"]
  measures  = values(local.measures)
  test      = "permutation"
}

step "agree" "first_two" {
  a        = step.import_run.system["keyword"].run
  b        = step.import_run.system["vector"].run
  scores_a = step.score.system["keyword"].queries
  scores_b = step.score.system["vector"].queries
  depth    = 10
  overlap  = [10]
}

step "export_run" "all" {
  runs     = { for name in keys(local.systems) : name => step.import_run.system[name].run }
  qrels    = step.import_qrels.judged.qrels
  metadata = true
  primad   = jsonencode({ actor = { role = "experimenter" }, data = { "test collection" = { name = "made up" } } })
}

table "systems" {
  caption = "Three systems on the same judgments."
  stubs   = ["System"]
  columns = [
    for id, name in local.measures :
    { id = id, title = name, format = "fixed", decimals = 1, best = "max", field = "percent.${{ ndcg = "ndcg_10", mrr = "mrr_10", hits = "hits_1" }[id]}" }
  ]
  rows = [
    for name, title in local.systems :
    { id = name, titles = [title], value = step.score.system[name].report }
  ]
  significance = {
    report  = step.compare.systems.report
    rows    = { for name in keys(local.systems) : name => name }
    columns = { ndcg = "ndcg_10", mrr = "mrr_10", hits = "hits_1" }
    letters = { keyword = "a", vector = "b" }
  }
}
