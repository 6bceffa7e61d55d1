# A second paper that builds on the first: what becomes of records whose revision has no page?
# What the first paper has done is a HIT here; of its steps only those run that this table needs.
#
#   redsi plan -f examples/second-paper/pipelines.hcl

module "redsi" {
  source = "../../pipelines.hcl"
  scale  = "toy"
}

step "dedup" "fallback" {
  for_each  = ["title", "url_title"]
  train     = module.redsi.records.train.headers
  dev       = module.redsi.records.dev.headers
  pages     = module.redsi.pages
  tokenizer = module.redsi.bert_tokenizer
  key       = "page_id"
  fallback  = each.key
}

table "fallbacks" {
  caption = "Documents of <sc>NQ320K-PageID</sc> by what stands for the page of a revision that has none."
  stubs   = ["Fallback"]
  columns = [for id in ["train", "dev", "union"] : { id = id, title = title(id), format = "integer" }]
  rows = concat(
    [{ id = "paper", titles = ["URL title with its case"], value = module.redsi.dedup["page_id"].counts, at = "documents" }],
    [for name, d in step.dedup.fallback : { id = name, titles = [name], value = d.counts, at = "documents" }],
  )
}
