# The stages of iterative/example-get-started, DVC's first example, with awk in place
# of Python: docs/other-tools.md puts it beside its dvc.yaml.
#
#   redsi run -f examples/from-dvc/pipelines.hcl

variable "params" {
  default     = "params.json"
  description = "file of parameters, a section for each stage"
}

locals { params = jsondecode(file(var.params)) }

# dvc add data/posts.tsv
step "download" "data" {
  urls = ["data/posts.tsv"]
}

step "command" "prepare" {
  argv    = ["awk", "-f", "prepare.awk", "-v", "seed=${local.params.prepare.seed}", "-v", "split_at=${local.params.prepare.split}", "in/data/posts.tsv"]
  files   = { "prepare.awk" = file("src/prepare.awk") }
  inputs  = { data = step.download.data.files }
  outputs = ["train.tsv", "test.tsv"]
}

step "command" "featurize" {
  argv    = ["awk", "-f", "featurize.awk", "-v", "max_features=${local.params.featurize.max_features}", "in/prepared/train.tsv", "in/prepared/test.tsv"]
  files   = { "featurize.awk" = file("src/featurize.awk") }
  inputs  = { prepared = step.command.prepare.out }
  outputs = ["train.tsv", "test.tsv"]
}

# What it prints is the model.
step "command" "train" {
  argv   = ["awk", "-f", "train.awk", "-v", "alpha=${local.params.train.alpha}", "in/features/train.tsv"]
  files  = { "train.awk" = file("src/train.awk") }
  inputs = { features = step.command.featurize.out }
}

step "command" "evaluate" {
  argv    = ["awk", "-f", "evaluate.awk", "in/model.tsv", "in/features/test.tsv"]
  files   = { "evaluate.awk" = file("src/evaluate.awk") }
  inputs  = { "model.tsv" = step.command.train.stdout, features = step.command.featurize.out }
  outputs = ["metrics.json", "plots/"]
}

# dvc metrics show
table "metrics" {
  caption = "Posts about R, told from others."
  stubs   = ["Model"]
  columns = [
    { id = "accuracy", title = "Accuracy", format = "fixed", decimals = 3 },
    { id = "posts", title = "Posts", format = "integer" },
  ]
  rows = [{ id = "bayes", titles = ["Naive Bayes"], value = step.command.evaluate.out, at = "metrics.json:" }]
}

# dvc plots show
figure "prc" {
  caption = "Precision by recall."
  x       = { title = "Recall" }
  y       = { title = "Precision" }
  series  = [{ id = "bayes", curve = { value = step.command.evaluate.out, list = "plots/prc.json:points", x = "recall", y = "precision" } }]
}
