# Four of scikit-learn's examples, as they are, with the scikit-learn that they were written for.

locals {
  examples = {
    linear   = "examples/linear_model/plot_ols.py"
    variance = "examples/linear_model/plot_ols_ridge_variance.py"
    digits   = "examples/classification/plot_digits_classification.py"
    clusters = "examples/cluster/plot_kmeans_silhouette_analysis.py"
  }
}

environment "py" {
  requirements = "requirements.txt"
  python       = "3.11"
}

# What an example prints is its result.
step "python" "example" {
  for_each    = local.examples
  script      = each.value
  environment = environment.py
  env         = { MPLBACKEND = "agg" }
}
