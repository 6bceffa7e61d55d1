step "download" "a" {
  url = "${1 + "x"}${upperr("a")}${join(",", 3)}"
}

step "download" "b" {
  url = "${step.download.a.file}"
}

step "download" "c" {
  url = jsonencode({ x = step.download.a.file })
}

step "download" "d" {
  url = file("nowhere.txt")
}

step "download" "e" {
  url = file("check.hcl")
}

step "download" "f" {
  url = true ? "a" : []
}

step "download" "g" {
  url = 1 == 2 ? [1][3] : { a = 1 }.b
}

step "download" "h" {
  for_each = { x = 1, y = 2, z = 3 }
  url      = { x = "a" }[each.key]
}

step "download" "i" {
  for_each = { x = [1], y = [2], z = [3] }
  url      = each.value
}

step "download" "j" {
  url = step.download.a.file == "x" ? "a" : "b"
}

step "download" "k" {
  url = try(step.download.a.file == "x", true) ? "a" : contains(["x"], step.download.a.file)
}

step "download" "l" {
  for_each = { x = step.download.a.file, y = "a" }
  url      = "${each.value}/${each.key}"
}
