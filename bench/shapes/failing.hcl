step "command" "w" {
  for_each   = toset(flatten([for i in range(COUNT / 100) : [for j in range(100) : tostring(100 * i + j)]]))
  on_failure = "leave_out"
  argv       = ["sh", "-c", "[ $((${each.key} % 100)) != 7 ] && echo ${each.key} > out/x"]
  outputs    = ["x"]
}

step "command" "all" {
  argv    = ["sh", "-c", "cat in/x/*/x > out/all"]
  lists   = { x = step.command.w[*].out }
  outputs = ["all"]
}
