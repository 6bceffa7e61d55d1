step "command" "make" {
  argv    = ["sh", "-c", "cd out; mkdir -p t; for i in $(seq 40); do (echo $i; head -c 2000000 /dev/zero) > t/$i; done"]
  outputs = ["t/"]
}
step "command" "read" {
  for_each = toset([for i in range(COUNT - 1) : tostring(i)])
  argv     = ["sh", "-c", "cat in/t/t/* | wc -c > out/x; echo ${each.key} >> out/x"]
  inputs   = { t = step.command.make.out }
  outputs  = ["x"]
}
