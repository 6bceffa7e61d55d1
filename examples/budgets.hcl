# Naive identifiers in sparser and sparser spaces (fig:budget-decoding): only their tokens differ.
# Beside pipelines.hcl: cp examples/budgets.hcl . && redsi plan -f .

step "naive_ids" "budget" {
  for_each     = { for n in [1, 2, 4, 8, 16, 32] : tostring(n) => n }
  documents    = step.dedup.nq["title"].documents
  t5_tokenizer = step.download.t5_tokenizer.files
  times        = each.value
}

table "budgets" {
  caption = "Tokens of naive identifiers by budget."
  stubs   = ["b / |D|"]
  columns = [
    { id = "mean_tokens", title = "Mean length", format = "fixed", decimals = 2 },
    { id = "vocabulary", title = "Distinct tokens", format = "integer" },
    { id = "prefixes", title = "Prefixes", format = "integer" },
  ]
  rows = [for n in ["1", "2", "4", "8", "16", "32"] : { id = "x${n}", titles = [n], value = step.naive_ids.budget[n].report }]
}
