variable "key" {}

output "renamed" {
  value = jsondecode(file("names.json"))[var.key]
}
