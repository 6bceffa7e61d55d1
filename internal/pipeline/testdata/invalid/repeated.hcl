# What is wrong in one place is told once, however many steps and values it makes wrong.
step "dedup" "two_missing" {
  for_each = ["a", "b"]
}

table "values" {
  rows = [for i in range(10) : { label = "a", cells = [i] }]
}

step "train" "both" {
  for_each = ["a", "b", "c"]
  corpus   = step.dedup.two_missing["a"].corpus
  budgets  = [for i in range(3) : -i]
  seed     = each.key == "c" ? 1 : each.key
}
