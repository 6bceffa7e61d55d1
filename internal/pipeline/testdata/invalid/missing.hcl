step "download" "a" {}

step "dedup" "b" {
  for_each = ["x", "y"]
  key      = "url"
}

table "t" {
  rows = [{ cells = [] }]
  expect "x" {}
  expect {
    value = 3
  }
}
