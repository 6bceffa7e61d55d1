#var numbers=[1, 2.5]
#var text=${not a template} "quoted"
#var object={ "a b" = "$${x}", n = null }
#var flag=true

# Every way in which a value can come in is written out again by Inputs.
variable "numbers" {
  type = list(number)
}
variable "text" {}
variable "object" { type = any }
variable "flag" { default = false }
variable "set" {
  type    = set(string)
  default = ["b", "a", "b"]
}
variable "map" {
  type    = map(number)
  default = { x = 1, y = 0.1 }
}
variable "heredoc" {
  default = <<-EOT
    two
      lines
  EOT
}
variable "unused" { default = 1 }

locals {
  unused = 2
}

step "train" "numbers" {
  corpus  = step.dedup.d.corpus
  rate    = 1 / 3
  seed    = 9007199254740993
  budgets = [for n in var.numbers : ceil(n)]
  bf16    = var.flag
}

step "extract" "e" {
  shards = step.download.text.file
  limit  = length(var.set) * sum(values({ for k, v in var.map : k => 10 * v }))
}

step "dedup" "d" {
  records = step.extract.e["records"]
  key     = trimprefix("k-url", "k-")
  rename  = merge({ text = var.text, heredoc = var.heredoc }, { for k, v in var.object : k => v if v != null })
}

step "download" "text" {
  url = "%{ for s in var.set }${s},%{ endfor }${upper("é")} ${format("%05.1f|%-3s|%d", 2.25, "x", 3)} ${join("-", split(",", "a,b"))}"
}

# Written as a list, expect can be computed; as blocks, it can be read.
table "computed" {
  expect = [for k, v in var.map : { cell = k, value = v, tolerance = v > 0.5 ? 0 : null }]
  data   = can(step.dedup.d.nothing) ? [] : [step.dedup.d.counts]
}

# A number or bool is a text where a text is wanted.
step "download" "number" {
  url    = 1.50
  sha256 = "${var.flag}"
}

figure "all_tables" {
  data = [for name, t in table : t.markdown]
}
