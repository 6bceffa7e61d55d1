variable "size" {
  type = number
  validation {
    condition     = var.size < 3
    error_message = "too large"
  }
}

variable "corpus" {
  type = any
}

variable "secret" {
  sensitive = true
  default   = null
}

step "download" "a" {
  urll = "x"
}

output "corpus" {
  value = step.download.b.file
}
