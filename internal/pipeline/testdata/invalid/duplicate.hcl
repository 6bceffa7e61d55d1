variable "x" { default = "1" }
variable "x" { default = 2 }

locals {
  a = var.x
}

locals {
  a = 2
}

step "download" "d" {
  url = local.a
}

step "download" "d" {
  url = "y"
}

table "t" {}
table "t" {}
figure "t" {}
