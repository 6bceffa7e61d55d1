step "download" "a" {
  url = "x"
}

step "download" "artifact" {
  for_each = step.download.a.file
  url      = each.key
}

step "download" "lines" {
  for_each = [step.download.a.file]
  url      = each.key
}

step "download" "one" {
  for_each = step.download.a
  url      = each.key
}

step "download" "text" {
  for_each = "abc"
  url      = each.key
}

step "download" "numbers" {
  for_each = [1, 2]
  url      = each.key
}

step "download" "none" {
  for_each = null
  url      = each.key
}

step "download" "twice" {
  for_each = ["a", "b", "a"]
  url      = each.key
}

step "download" "empty" {
  for_each = { "" = 1 }
  url      = each.key
}

step "download" "self" {
  for_each = toset([each.key])
  url      = each.keys
}

# A block whose for_each is wrong is not the fault of those that use it.
step "extract" "b" {
  shards = step.download.artifact[*].file
  limit  = step.download.artifact["x"].fiel
}
