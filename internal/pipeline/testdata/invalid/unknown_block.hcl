steps "download" "a" {
  url = "x"
}

scale = "toy"

step "download" {
  url = "x"
}

step "download" "a" "b" {
  url = "x"
}

table {
}

step "download" "7up" {
  url = "x"
}

local {
  a = 1
}
