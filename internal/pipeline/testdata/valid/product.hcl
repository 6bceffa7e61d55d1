# Keys are joined in the order in which the axes are written ...
locals {
  axes = { size = ["tiny", "base"], b = [true] }
}

step "download" "written" {
  for_each = product({ z = ["q", "p"], a = [1.5, 2] })
  url      = "${each.key} ${each.value.z} ${each.value.a}"
}

# ... or by name where that is not known, or as is said.
step "download" "named" {
  for_each = product(local.axes)
  url      = each.key
}

step "download" "said" {
  for_each = product(local.axes, ["size", "b"])
  url      = each.key
}

step "download" "quoted" {
  for_each = product(({ "z z" = ["1"], (upper("a")) = ["2"] }))
  url      = "${each.key} ${each.value["z z"]}"
}

# An axis may be other steps, or anything that has names.
step "download" "of_steps" {
  for_each = product({ source = step.download.said, how = { fast = { level = 1 }, slow = { level = 9 } } })
  url      = "${each.key} ${each.value.how.level}"
  sha256   = each.value.source.file != null && startswith(each.key, "tiny/true") ? "tiny" : "base"
}

step "download" "none" {
  for_each = product({ a = [], b = [1] })
  url      = each.key
}


step "download" "empty_product" {
  for_each = product({})
  url      = each.key
}

step "extract" "all" {
  shards = concat(step.download.none[*].file, step.download.of_steps[*].file, step.download.empty_product[*].file)
}
