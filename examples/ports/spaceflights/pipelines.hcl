# kedro's spaceflights (kedro-org/kedro-starters, spaceflights-pandas): three pipelines of three
# nodes. The project's package and catalog stand as they are; run_node.py runs one node, as
# kedro does, so that each is a step.

variable "model_options" {
  default = {
    test_size    = 0.2
    random_state = 3
    features = ["engines", "passenger_capacity", "crew", "d_check_complete", "moon_clearance_complete", "iata_approved",
    "company_rating", "review_scores_rating"]
  }
}

environment "py" {
  requirements = "requirements.txt"
  python       = "3.11"
}

source "raw" { path = "data/01_raw" }

locals {
  code = ["conf/base/catalog.yml"]
  raw  = { for name in ["companies.csv", "reviews.csv", "shuttles.xlsx"] : name => { "data/01_raw/${name}" = source.raw.files[name] } }
  # What a node makes, where the catalog has it.
  companies = "data/02_intermediate/preprocessed_companies.parquet"
  shuttles  = "data/02_intermediate/preprocessed_shuttles.parquet"
  table     = "data/03_primary/model_input_table.parquet"
  split     = { for name in ["X_train", "X_test", "y_train", "y_test"] : name => "data/memory/${name}.pickle" }
  model     = "data/06_models/regressor.pickle"
}

step "python" "preprocess_companies" {
  script      = "data_processing.py"
  arguments   = ["preprocess_companies"]
  sources     = ["src"]
  code        = local.code
  environment = environment.py
  inputs      = local.raw["companies.csv"]
  outputs     = [local.companies]
}

step "python" "preprocess_shuttles" {
  script      = "data_processing.py"
  arguments   = ["preprocess_shuttles"]
  sources     = ["src"]
  code        = local.code
  environment = environment.py
  inputs      = local.raw["shuttles.xlsx"]
  outputs     = [local.shuttles]
}

step "python" "create_model_input_table" {
  script      = "data_processing.py"
  arguments   = ["create_model_input_table"]
  sources     = ["src"]
  code        = local.code
  environment = environment.py
  inputs = merge(local.raw["reviews.csv"], {
    (local.companies) = step.python.preprocess_companies.out[local.companies]
    (local.shuttles)  = step.python.preprocess_shuttles.out[local.shuttles]
  })
  outputs = [local.table]
}

step "command" "parameters" {
  argv  = ["cat", "parameters.yml"]
  files = { "parameters.yml" = yamlencode({ model_options = var.model_options }) }
}

step "python" "split_data" {
  script      = "data_science.py"
  arguments   = ["split_data"]
  sources     = ["src"]
  code        = local.code
  environment = environment.py
  inputs = {
    (local.table)              = step.python.create_model_input_table.out[local.table]
    "conf/base/parameters.yml" = step.command.parameters.stdout
  }
  outputs = values(local.split)
}

step "python" "train_model" {
  script      = "data_science.py"
  arguments   = ["train_model"]
  sources     = ["src"]
  code        = local.code
  environment = environment.py
  inputs      = { for name in ["X_train", "y_train"] : local.split[name] => step.python.split_data.out[local.split[name]] }
  outputs     = [local.model]
}

step "python" "evaluate_model" {
  script      = "data_science.py"
  arguments   = ["evaluate_model"]
  sources     = ["src"]
  code        = local.code
  environment = environment.py
  inputs = merge({ (local.model) = step.python.train_model.out[local.model] },
  { for name in ["X_test", "y_test"] : local.split[name] => step.python.split_data.out[local.split[name]] })
  outputs = ["data/memory/metrics.json"]
}

step "python" "report" {
  for_each = {
    compare_passenger_capacity_exp = "shuttle_passenger_capacity_plot_exp.json"
    compare_passenger_capacity_go  = "shuttle_passenger_capacity_plot_go.json"
    create_confusion_matrix        = "dummy_confusion_matrix.png"
  }
  script      = "reporting.py"
  arguments   = [each.key]
  sources     = ["src"]
  code        = local.code
  environment = environment.py
  inputs      = each.key == "create_confusion_matrix" ? local.raw["companies.csv"] : { (local.shuttles) = step.python.preprocess_shuttles.out[local.shuttles] }
  outputs     = ["data/08_reporting/${each.value}"]
}

figure "confusion" {
  caption = "The starter's confusion matrix, of made-up numbers."
  image   = step.python.report["create_confusion_matrix"].out
}

table "metrics" {
  caption = "Price of a shuttle: the regression on test data."
  stubs   = ["Model"]
  columns = [
    { id = "r2_score", title = "R²", format = "fixed", decimals = 3 },
    { id = "mae", title = "Mean absolute error", format = "fixed", decimals = 1 },
    { id = "max_error", title = "Largest error", format = "fixed", decimals = 1 },
  ]
  rows = [{ id = "linear", titles = ["Linear regression"], value = step.python.evaluate_model.out, at = "data/memory/metrics.json:" }]
}
