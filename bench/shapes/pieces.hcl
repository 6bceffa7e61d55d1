step "command" "split" {
  script  = "awk '{ f = \"out/s/\" $1; print > f; close(f) }' pieces.txt"
  files   = { "pieces.txt" = file("pieces.txt") }
  outputs = ["s/"]
}

step "command" "piece" {
  for_each = files(step.command.split.out, "s/*")
  argv     = ["cat", "in/x"]
  inputs   = { x = each.value }
}

step "command" "all" {
  argv    = ["sh", "-c", "cat in/x/* > out/all"]
  lists   = { x = step.command.piece[*].stdout }
  outputs = ["all"]
}
