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
environment "py" { uv = "uv.lock" }

source "data" { path = "data/data.xml" }

step "python" "prepare" {
  script      = "src/prepare.py"
  arguments   = ["data/data.xml"]
  environment = environment.py
  files       = { "params.yaml" = yamlencode({ prepare = var.params.prepare }) }
  inputs      = { "data/data.xml" = source.data.files["data.xml"] }
  outputs     = ["data/prepared/"]
}

step "python" "featurize" {
  script      = "src/featurization.py"
  arguments   = ["data/prepared", "data/features"]
  environment = environment.py
  files       = { "params.yaml" = yamlencode({ featurize = var.params.featurize }) }
  inputs      = { "data/prepared" = step.python.prepare.out["data/prepared"] }
  outputs     = ["data/features/"]
}

step "python" "train" {
  script      = "src/train.py"
  arguments   = ["data/features", "model.pkl"]
  environment = environment.py
  files       = { "params.yaml" = yamlencode({ train = var.params.train }) }
  inputs      = { "data/features" = step.python.featurize.out["data/features"] }
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
  stubs   = ["Posts"]
  columns = [
    { id = "avg_prec", title = "Average precision", format = "fixed", decimals = 4 },
    { id = "roc_auc", title = "ROC AUC", format = "fixed", decimals = 4 },
  ]
  rows = [for part in ["train", "test"] : { id = part, titles = [part], cells = {
    avg_prec = { value = step.python.evaluate.out, field = "eval/metrics.json:avg_prec.${part}" }
    roc_auc  = { value = step.python.evaluate.out, field = "eval/metrics.json:roc_auc.${part}" }
  } }]
}
