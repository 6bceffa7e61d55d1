step "downlaod" "a" {
  url = "x"
}

step "download_part" "hidden" {
  url = "x"
}

# What refers to it is not wrong by that.
step "extract" "b" {
  shards = step.downlaod.a.file
}

step "render_table" "t" {
  paper = "tab:x"
}
