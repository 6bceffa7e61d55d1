step "download" "a" {
  url = "curl -w %{http_code}"
}
