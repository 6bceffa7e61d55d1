variable "token" {
  sensitive = true
  default   = "hunter2"
}

results {
  from = ["a", "a", ""]
  trust = [
    "alice:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "again:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
  ]
  revoked   = ["alice:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="]
  untrusted = var.token
  shared    = var.missing
}
