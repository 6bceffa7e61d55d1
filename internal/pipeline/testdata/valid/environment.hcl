#env REDSI_VAR_scael=toy
#env REDSI_VAR_another_pipelines=1

# A mistyped name in the environment changes nothing, and is told.
variable "scale" { default = "full" }

step "download" "nq" {
  url = var.scale
}
