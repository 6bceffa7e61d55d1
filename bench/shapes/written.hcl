step "command" "split" {
  script  = "awk '{ f = \"out/s/\" $1; print > f; close(f) }' pieces.txt"
  files   = { "pieces.txt" = file("pieces.txt") }
  outputs = ["s/"]
}

step "command" "piece" {
  for_each = merge([for i in range(COUNT / 100) : { for j in range(100) : format("%05d", 100 * i + j) => step.command.split.out[format("s/%05d", 100 * i + j)] }]...)
  argv     = ["cat", "in/x"]
  inputs   = { x = each.value }
}

step "command" "all" {
  argv    = ["sh", "-c", "cat in/x/* > out/all"]
  lists   = { x = step.command.piece[*].stdout }
  outputs = ["all"]
}
