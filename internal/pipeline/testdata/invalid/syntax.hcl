step "download" "a" {
  url = 
}

step "download" "b" {
  url = "x
}
