step "command" "w" {
  for_each = toset(flatten([for i in range(COUNT / 100) : [for j in range(100) : tostring(100 * i + j)]]))
  argv     = ["sh", "-c", "echo ${each.key} > out/x"]
  outputs  = ["x"]
}
