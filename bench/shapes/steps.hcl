step "command" "c" {
  for_each = { for i in range(COUNT) : format("%05d", i) => i }
  argv     = ["sh", "-c", each.value == 0 ? "echo 0 > out/x" : "(cat in/p/x; echo ${each.value}) | tail -n 3 > out/x"]
  inputs   = { for i in [each.value - 1] : "p" => step.command.c[format("%05d", i)].out if i >= 0 }
  outputs  = ["x"]
}
