variable "unused" { default = 1 }

locals {
  idle  = [for table in ["a", "b"] : upper(table)]
  names = ["a", "b"]
  all   = [for step in local.names : "${step}"]
  keyed = { for k in local.all : k => { "${k}" = k, (k) = "${k}!" } }
}

module "other" { source = "./other" }

step "download" "unread" { url = "https://lab.example.org/a" }

step "download" "one" {
  for_each = toset(["a"])
  url      = each.key
}

step "download" "same" {
  for_each = local.names
  url      = "https://lab.example.org/b"
}

# A switch, and instances that differ within a block only: no hints.
step "download" "maybe" {
  for_each = length(local.names) > 1 ? ["only"] : []
  url      = "https://lab.example.org/c"
}

table "drawn" {
  for_each = local.keyed
  expect "a" { value = length(each.value) }
}

step "extract" "maybe" { shards = step.download.maybe[*].file }

step "extract" "a" { shards = concat(step.download.one[*].file, step.download.same[*].file) }

step "extract" "b" {
  split  = "train"
  shards = concat(step.download.one[*].file, step.download.same[*].file)
}

# Files that a program is given, and files of a folder that are chosen by their names.
step "command" "split" {
  argv    = ["python3", "other/split.py", "awk/none.awk", "in/a.txt", "split.py", "--like=other/split.py"]
  files   = { "split.py" = "" }
  outputs = ["seq/", "counts.json"]
}

locals { chunks = ["seq_1", "seq_2"] }

step "command" "reverse" {
  for_each = toset(local.chunks)
  argv     = ["sh", "-c", "rev in/x/seq/${each.key}.txt > out/a.txt"]
  inputs   = { x = step.command.split.out }
  outputs  = ["a.txt"]
}

step "command" "whole" {
  for_each = toset(["fast", "slow"])
  argv     = ["sh", "-c", "tool --mode ${each.key} in/x/seq/* > out/a.txt; python3 other/split.py", "in/x/counts.json"]
  inputs   = { x = step.command.split.out }
  outputs  = ["a.txt"]
}

step "command" "computed" {
  for_each = toset([for i in range(2) : "seq_${i}"])
  argv     = ["rev", "in/x/seq/${each.key}"]
  inputs   = { x = step.command.split.out }
  outputs  = ["a.txt"]
}

step "command" "by_script" {
  for_each = toset(["seq_1", "seq_2"])
  script   = <<-EOT
    cut -c 1 in/x/seq/${each.key}
    awk -f other/split.py in/x/counts.json
  EOT
  inputs   = { x = step.command.split.out }
}

output "terraform" {
  value = [
    replace("a1b", "/[0-9]/", "#"),
    replace("a/b", "/", "-"), # no regular expression there either
    coalesce("", "a"),
    coalesce(null, ""),
  ]
}
