step "download" {
