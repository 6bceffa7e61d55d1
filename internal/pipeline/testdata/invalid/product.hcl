step "download" "a" {
  for_each = product(["a", "b"])
  url      = each.key
}

step "download" "b" {
  for_each = product({ x = "a", y = ["b"] })
  url      = each.key
}

step "download" "c" {
  for_each = product({ x = ["a/b", "a"], y = ["c", "b/c"] })
  url      = each.key
}

step "download" "d" {
  for_each = product({ x = [["a"]] })
  url      = each.key
}

step "download" "e" {
  for_each = product({ x = ["a"], y = ["b"] }, ["x"])
  url      = each.value.z
}

step "download" "f" {
  for_each = product({ x = ["a"], y = ["b"] })
  url      = each.value.z
}

step "download" "g" {
  for_each = product({ x = ["a", "a"] })
  url      = each.key
}
