# A pipeline is steps, tables and figures. `redsi run` runs what has no result yet;
# a second run has nothing to do. Edit anything: only what depends on it reruns.

# Set with --var pages=60, a file of variables, or REDSI_VAR_pages.
variable "pages" { default = 30 }

# step KIND NAME. This kind generates a small corpus in the formats of Natural
# Questions; `redsi kinds synth` lists its attributes. Use the kind `download` for
# real files, and the kind `command` for your own programs.
step "synth" "corpus" {
  pages           = var.pages
  train_questions = 2 * var.pages
  dev_questions   = var.pages
}

# An address names another step's output. That is the only kind of edge.
step "extract" "train" {
  files = step.synth.corpus.train
  split = "train"
}
step "extract" "dev" {
  files = step.synth.corpus.dev
  split = "dev"
}

# Which page does a revision belong to? The dump knows.
step "pages" "corpus" {
  headers = [step.extract.train.headers, step.extract.dev.headers]
  dump    = step.synth.corpus.stub
}

# for_each makes one step per element: step.dedup.by["url"] and so on.
step "dedup" "by" {
  for_each = toset(["url", "h1", "page_id"])
  train    = step.extract.train.headers
  dev      = step.extract.dev.headers
  pages    = step.pages.corpus.table
  key      = each.key
}

# A table reads numbers from JSON outputs: results/tables/documents.{md,tex,csv,json}.
# `redsi artifacts cat 'step.dedup.by["url"].counts'` shows the numbers.
table "documents" {
  caption = "Documents that each grouping key leaves."
  stubs   = ["Key"]
  columns = [for split in ["train", "dev", "union"] : { id = split, title = title(split), format = "integer" }]
  rows    = [for key in ["url", "h1", "page_id"] : { id = key, titles = [key], value = step.dedup.by[key].counts, at = "documents" }]
}
