# DVC's get-started (iterative/example-get-started), with its scripts as they are. They are not
# in this repository: port.json names the commit and has their SHA-256, data.py makes posts in
# place of the 14 MB that the original takes from another repository.

variable "params" {
  default = {
    prepare   = { split = 0.20, seed = 20170428 }
    featurize = { max_features = 200, ngrams = 2 }
    train     = { seed = 20170428, n_est = 50, min_split = 0.01 }
  }
  description = "params.yaml: a section for each stage"
}

# What src/requirements.txt asks for.
environment "py" {
  requirements = "requirements.txt"
  python       = "3.11"
}

source "data" { path = "data/data.xml" }

# A stage finds its own section in params.yaml, so that the others do not concern it.
step "command" "params" {
  for_each = var.params
  argv     = ["cat", "params.yaml"]
  files    = { "params.yaml" = yamlencode({ (each.key) = each.value }) }
}

step "python" "prepare" {
  script      = "src/prepare.py"
  arguments   = ["data/data.xml"]
  environment = environment.py
  inputs      = { "params.yaml" = step.command.params["prepare"].stdout, "data/data.xml" = source.data.files["data.xml"] }
  outputs     = ["data/prepared/"]
}

step "python" "featurize" {
  script      = "src/featurization.py"
  arguments   = ["data/prepared", "data/features"]
  environment = environment.py
  inputs      = { "params.yaml" = step.command.params["featurize"].stdout, "data/prepared" = step.python.prepare.out["data/prepared"] }
  outputs     = ["data/features/"]
}

step "python" "train" {
  script      = "src/train.py"
  arguments   = ["data/features", "model.pkl"]
  environment = environment.py
  inputs      = { "params.yaml" = step.command.params["train"].stdout, "data/features" = step.python.featurize.out["data/features"] }
  outputs     = ["model.pkl"]
}

step "python" "evaluate" {
  script      = "src/evaluate.py"
  arguments   = ["model.pkl", "data/features"]
  environment = environment.py
  inputs      = { "model.pkl" = step.python.train.out["model.pkl"], "data/features" = step.python.featurize.out["data/features"] }
  outputs     = ["eval/"]
}

table "metrics" {
  caption = "How well posts about R are told from others."
  stubs   = ["Metric"]
  columns = [
    { id = "train", title = "Training", format = "fixed", decimals = 4 },
    { id = "test", title = "Test", format = "fixed", decimals = 4 },
  ]
  rows = [
    { id = "avg_prec", titles = ["Average precision"], value = step.python.evaluate.out, at = "eval/metrics.json:avg_prec" },
    { id = "roc_auc", titles = ["ROC AUC"], value = step.python.evaluate.out, at = "eval/metrics.json:roc_auc" },
  ]
}
