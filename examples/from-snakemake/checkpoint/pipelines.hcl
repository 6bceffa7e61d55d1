# Parts whose names a step finds, in two runs with a file between them:
# docs/other-tools.md says how.

step "download" "records" {
  urls = ["records.tsv"]
}

# Prints the names of the parts, a line each.
step "command" "names" {
  script = "cut -f 1 in/records/records.tsv | sort -u"
  inputs = { records = step.download.records.files }
}

step "command" "part" {
  for_each = toset(try(split("\n", trimspace(file("names.txt"))), []))
  script   = "grep -w '^${each.key}' in/records/records.tsv"
  inputs   = { records = step.download.records.files }
}

step "command" "count" {
  script = "wc -l in/parts/*"
  inputs = { for name, part in step.command.part : "parts/${name}" => part.stdout }
}
