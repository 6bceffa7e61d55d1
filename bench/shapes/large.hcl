step "command" "make" {
  argv    = ["sh", "-c", "head -c 1000000000 /dev/zero > out/x"]
  outputs = ["x"]
}
step "command" "count" {
  argv    = ["sh", "-c", "wc -c < in/x/x > out/x"]
  inputs  = { x = step.command.make.out }
  outputs = ["x"]
}
step "command" "end" {
  argv    = ["sh", "-c", "cat in/n/x; tail -c 1 in/x/x > out/x"]
  inputs  = { n = step.command.count.out, x = step.command.make.out }
  outputs = ["x"]
}
