# Another corpus in NQ's format, and a table of revisions in place of the 60 GB dump. Paths begin at this file's folder.
# redsi run -f examples/own_nq.hcl --var 'train=["mine-train.jsonl.gz"]' --var 'dev=["mine-dev.jsonl.gz"]' --var pages=revisions.csv

variable "train" { type = list(string) }
variable "dev" { type = list(string) }
variable "pages" { description = "CSV with a header line that names oldid and page_id." }

step "download" "nq" {
  for_each = { train = var.train, dev = var.dev, pages = [var.pages] }
  urls     = each.value
}

step "extract" "nq" {
  for_each      = toset(["train", "dev"])
  files         = step.download.nq[each.key].files
  split         = each.key
  on_bad_record = "skip"
}

step "page_table" "nq" {
  table = step.download.nq["pages"].files
}

step "dedup" "nq" {
  for_each = toset(["url", "page_id"])
  train    = step.extract.nq["train"].headers
  dev      = step.extract.nq["dev"].headers
  pages    = step.page_table.nq.table
  key      = each.key
}

step "export" "nq" {
  documents = step.dedup.nq["page_id"].documents
  queries   = step.dedup.nq["page_id"].queries
  name      = "mine"
  key       = "page_id"
  origin    = "other"
}
