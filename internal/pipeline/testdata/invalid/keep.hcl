step "download" "wrong" {
  url  = "x"
  keep = "never"
}

step "download" "planned" {
  url  = "x"
  keep = false
}

step "download" "by_it" {
  url  = json(step.download.planned.file, "url")
  keep = true
}

table "numbers" {
  keep = false
}
