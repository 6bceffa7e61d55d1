# What is another language's in a text.
step "download" "awk" {
  url    = "{print ${1}, $${2}, $3}"
  sha256 = <<-EOT
    echo "${10}"
  EOT
}

step "download" "alone" {
  for_each = toset(["a", "b"])
  url      = "${1}"
}

step "download" "made" {
  url = "${1 + 1} ${-1} ${"1"}"
}
