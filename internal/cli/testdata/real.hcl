# Six real pages: the fixture of the command line's tests.
variable "data" {}
variable "web" { default = "" }

step "download" "train" {
  urls = [var.web == "" ? "${var.data}/corpora/nq/testdata/real-pages-train-full.jsonl.gz" : "${var.web}/real-pages-train-full.jsonl.gz"]
}
step "download" "dev" {
  urls = ["${var.data}/corpora/nq/testdata/real-pages-dev-full.jsonl.gz"]
}
step "download" "stub" {
  urls = ["${var.data}/corpora/wikipedia/testdata/real-pages-stub.xml.gz"]
}

step "extract" "train" {
  files = step.download.train.files
  split = "train"
}
step "extract" "dev" {
  files = step.download.dev.files
  split = "dev"
}

step "pages" "nq" {
  headers = [step.extract.train.headers, step.extract.dev.headers]
  dump    = step.download.stub.files
}

step "dedup" "nq" {
  for_each       = toset(["url", "page_id"])
  train          = step.extract.train.headers
  dev            = step.extract.dev.headers
  pages          = step.pages.nq.table
  key            = each.value
  representative = "first"
}

table "counts" {
  paper   = "tab:dedup-counts"
  caption = "Six real pages."
  stubs   = ["Key"]
  columns = [for c in ["train", "dev", "union"] : { id = c, title = c, format = "integer" }]
  rows    = [for k in ["url", "page_id"] : { id = k, titles = [k], value = step.dedup.nq[k].counts, at = "documents" }]
  expect "url.train" {
    value    = 10
    severity = "error"
  }
  expect "url.dev" { value = 8 }
  expect "url.union" { value = 13 }
  expect "page_id.union" { value = 6 }
}

claim "finer" {
  text = "URLs are finer than pages."
  expect {
    cell  = table.counts["url.union"]
    above = [table.counts["page_id.union"]]
  }
}
