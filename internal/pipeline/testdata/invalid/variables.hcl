#var scal=toy
#var seeds=[1,
#var rate=high
#varfile lab.hcl sizes = "tiny"
#varfile cluster.json {"nodes": 3}
#env REDSI_VAR_budget=many

variable "scale" {}
variable "seeds" {
  type    = list(number)
  default = []
}
variable "rate" {
  type    = number
  default = 1
}
variable "sizes" {
  type    = map(string)
  default = {}
}
variable "budget" { default = 10 }
variable "a" {
  type    = numbr
  default = local.x
}
variable "b" {
  type    = number
  default = "x"
  defualt = 3
  description = []
}
variable "c" {
  default = 3
  validation {
    condition     = var.c > 10
    error_message = "It is too small."
  }
  validation {
    condition = local.x
    error_message = "x"
  }
  validation {
    condition = "what"
    error_message = "x"
  }
  validation {}
  validatoin {}
}
locals {
  x = [var.scale, var.seeds, var.rate, var.sizes, var.budget, var.a, var.b, var.c]
}
step "download" "a" {
  url = jsonencode(local.x)
}
