table "t" {
  rows {
    label = "a"
  }
  expect "a" "b" {
    value = 1
  }
  expect "c" {
    cell  = "c"
    value = 1
    more {}
  }
  resources = { queue = "gpu" }
}

table "u" {
  expect = [{ cell = "a", value = 1 }]
  expect "b" {
    value = 1
  }
  resources {}
  resources {}
}

table "v" {
  expect = [{ cell = "a", value = 1 }, { cell = "b", vale = 1 }, "c"]
}

locals {
  inner {}
}
