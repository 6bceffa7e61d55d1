# One BM25 for NQ320K. Papers that compare themselves with BM25 on "NQ320K" print a Recall@1 of 12 % or of 30 %. How much can
# depend on what counts as one document, on which of its text is searched, and on k1, b and the words? All are combined here.
# redsi run -f examples/bm25_nq320k.hcl --var scale=toy
#
# Ten keys, four texts and seven settings. It is a second paper on the first: what pipelines.hcl has run is a hit.
# docs/studies.md says what was published, and what is known of how.

variable "scale" {
  description = "full: the real data. sample: a part of it. toy: a generated corpus."
  default     = "full"
}

variable "nq_from" {
  description = "Where Natural Questions come from: bucket or hub, as in pipelines.hcl."
  default     = "bucket"
}

variable "contact" {
  description = "With scale = sample: your e-mail address or web page, which Wikipedia asks programs to say."
  default     = ""
  ask         = "Wikipedia asks programs to say how to reach their user. Your e-mail address or web page:"
}

# A part of the study: --var 'keys=["title", "page_id"]' --var 'texts=["html_norm"]'
variable "keys" {
  description = "Which keys group records into documents."
  default     = ["text4k_cased", "text4k", "url", "url_title_cased", "url_title", "h1_cased", "h1", "nci_h1", "title", "page_id"]
}

variable "texts" {
  description = "Which texts of the documents are searched."
  default     = ["simplified", "simple_norm", "nci_norm", "html_norm"]
}

# Other files than these, a page_table or another reading: give the module its variables here.
module "redsi" {
  source  = "../pipelines.hcl"
  scale   = var.scale
  nq_from = var.nq_from
  contact = var.contact
}

locals {
  key_titles = {
    text4k_cased    = "Text4K-Cased"
    text4k          = "Text4K"
    url             = "URL"
    url_title_cased = "URLTitle-Cased"
    url_title       = "URLTitle"
    h1_cased        = "H1-Cased"
    h1              = "H1"
    nci_h1          = "NciH1"
    title           = "Title"
    page_id         = "PageID"
  }
  text_titles = { simplified = "Simplified", simple_norm = "SimpleNorm", nci_norm = "NciNorm", html_norm = "HtmlNorm" }

  # What programs do when nobody says otherwise; and the k1 and b that Anserini recommends for MS MARCO's passages and documents.
  settings = {
    anserini      = { title = "Anserini", k1 = 0.9, b = 0.4 }
    msmarco       = { title = "MS MARCO passages", k1 = 0.82, b = 0.68 }
    msmarco_docs  = { title = "MS MARCO documents", k1 = 4.46, b = 0.82 }
    lucene        = { title = "Lucene", k1 = 1.2, b = 0.75 }
    bm25s         = { title = "bm25s", k1 = 1.5, b = 0.75, tokenizer = "words", lengths = "exact" }
    bm25s_stemmed = { title = "bm25s, stems", k1 = 1.5, b = 0.75, tokenizer = "words", lengths = "exact", stemmer = "english3" }
    rank_bm25     = { title = "rank_bm25", k1 = 1.5, b = 0.75, tokenizer = "whitespace", formula = "okapi" }
  }
  order    = ["anserini", "msmarco", "msmarco_docs", "lucene", "bm25s", "bm25s_stemmed", "rank_bm25"]
  measures = { recall_1 = "Recall@1", recall_10 = "Recall@10", recall_100 = "Recall@100", mrr_100 = "MRR@100" }

  # Each with the cell of the study that is nearest to it, as far as anything is known. More are lines to add.
  published = [
    {
      id     = "dsi"
      title  = "DSI"
      known  = "228K documents"
      cell   = "url/html_norm/anserini"
      values = { recall_1 = 11.6, recall_10 = 34.4 }
      source = "Tay et al., arXiv:2202.06991, table 2"
    },
    {
      id     = "gr2"
      title  = "GR<sup>2</sup>"
      known  = "228K documents"
      cell   = "url/html_norm/anserini"
      values = { recall_1 = 29.27, recall_10 = 60.16 } # and an MRR@3 of 14.56, which cannot be below Recall@1
      source = "Tang et al., arXiv:2409.18409, tables 2 and 3"
    },
    {
      id     = "genret"
      title  = "GenRet"
      known  = "109.7K documents, prepared by NCI"
      cell   = "title/simple_norm/anserini"
      values = { recall_1 = 29.7, recall_10 = 60.3, mrr_100 = 40.2 }
      source = "Sun et al., arXiv:2304.04171, as arXiv:2408.02152 repeats it in its table 1"
    },
    {
      id     = "ddro_user"
      title  = "a user of DDRO's files"
      known  = "Pyserini, k1 0.82, b 0.68; 10.9K documents, prepared by DDRO after NCI"
      cell   = "title/simple_norm/msmarco"
      values = { recall_1 = 30.54, recall_10 = 60.68, recall_100 = 82.49 }
      source = "github.com/kidist-amde/ddro, issue 13"
    },
  ]
  rebuilt = [for p in local.published : p if can(step.score.nq[p.cell])]
}

step "download" "t5_tokenizer" {
  urls    = ["../assets/tokenizers/t5-tokenizer.json.gz"]
  license = "Apache-2.0"
}

step "serialize" "nq" {
  for_each     = product({ key = var.keys, text = var.texts })
  records      = [module.redsi.records.train.records, module.redsi.records.dev.records]
  documents    = module.redsi.dedup[each.value.key].documents
  form         = replace(each.value.text, "_", "")
  t5_tokenizer = step.download.t5_tokenizer.files
}

step "bm25" "nq" {
  for_each  = product({ key = var.keys, text = var.texts, setting = keys(local.settings) }, ["key", "text", "setting"])
  corpus    = step.serialize.nq["${each.value.key}/${each.value.text}"].corpus
  queries   = module.redsi.dedup[each.value.key].queries
  k1        = local.settings[each.value.setting].k1
  b         = local.settings[each.value.setting].b
  formula   = try(local.settings[each.value.setting].formula, null)
  tokenizer = try(local.settings[each.value.setting].tokenizer, null)
  lengths   = try(local.settings[each.value.setting].lengths, null)
  stemmer   = try(local.settings[each.value.setting].stemmer, null)
  depth     = 100
}

step "score" "nq" {
  for_each = step.bm25.nq
  run      = each.value.run
  qrels    = each.value.qrels
  measures = values(local.measures)
}

table "bm25" {
  for_each = local.measures
  caption  = "${each.value} of BM25 on the development queries of NQ320K (%), by what is a document, which text of it is searched, and by whose settings."
  scale    = var.scale
  stubs    = ["Key", "Text"]
  columns = concat(
    [{ id = "documents", title = "Documents", from = "counts", field = "documents.union", format = "integer" }],
    [for id in local.order : { id = id, title = local.settings[id].title, groups = ["<i>k</i><sub>1</sub> ${local.settings[id].k1}, <i>b</i> ${local.settings[id].b}"], from = id, field = "percent.${each.key}", format = "fixed", decimals = 1 }],
  )
  rows = [
    for v in setproduct(var.keys, var.texts) : {
      id     = join("_", v)
      titles = [local.key_titles[v[0]], local.text_titles[v[1]]]
      values = merge({ counts = module.redsi.dedup[v[0]].counts }, { for id in keys(local.settings) : id => step.score.nq["${v[0]}/${v[1]}/${id}"].report })
    }
  ]
}

# How far one choice alone moves a measure: the largest difference of two rankings that differ in nothing else.
step "command" "spread" {
  argv   = concat(["awk", "-v", "lucene=${join(" ", [for id, s in local.settings : id if !can(s.tokenizer)])}", "-f", "spread.awk"], [for name in keys(step.score.nq) : "in/${name}.json"])
  inputs = { for name, s in step.score.nq : "${name}.json" => s.report }
  files = {
    "spread.awk" = <<-EOT
      function seen(choice, others,    at) {
        at = choice SUBSEP measure SUBSEP others
        if (!(at in low) || value < low[at]) low[at] = value
        if (!(at in high) || value > high[at]) high[at] = value
      }
      match($0, /"(${join("|", keys(local.measures))})": [0-9]/) {
        split($0, line, /[":, ]+/); measure = line[2]; value = line[3] + 0
        split(FILENAME, of, /[\/.]/)
        seen("key", of[3] SUBSEP of[4]); seen("text", of[2] SUBSEP of[4]); seen("setting", of[2] SUBSEP of[3])
        if (index(" " lucene " ", " " of[4] " ")) seen("k1_b", of[2] SUBSEP of[3])
      }
      END {
        for (at in low) {
          split(at, of, SUBSEP)
          if (high[at] - low[at] > most[of[1] "_" of[2]]) most[of[1] "_" of[2]] = high[at] - low[at]
        }
        n = split("${join(" ", flatten([for c in ["key", "text", "setting", "k1_b"] : [for m in keys(local.measures) : "${c}_${m}"]]))}", names, " ")
        for (i = 1; i <= n; i++) printf "%s\"%s\": %.6f%s", (i == 1 ? "{" : ", "), names[i], most[names[i]], (i == n ? "}\n" : "")
      }
    EOT
  }
}

table "spread" {
  caption = "The largest difference that one choice makes, all others the same (points)."
  scale   = var.scale
  stubs   = ["Choice"]
  columns = [for id in ["recall_1", "recall_10", "recall_100", "mrr_100"] : { id = id, title = local.measures[id], format = "fixed", decimals = 1 }]
  rows = [
    for r in [["key", "What is one document"], ["text", "Which text of it"], ["setting", "Whose settings"], ["k1_b", "Of these <i>k</i><sub>1</sub> and <i>b</i> alone"]] :
    { id = r[0], titles = [r[1]], value = step.command.spread.stdout, fields = { for measure in keys(local.measures) : measure => "${r[0]}_${measure}" } }
  ]
}

# No expectation of these is an error: none of the papers says enough to be reproduced. Up to a point is a match, three near.
table "published" {
  when      = length(local.rebuilt) > 0
  otherwise = "No setting that is nearest to a published number is in this part of the study."
  caption   = "Published numbers of BM25 on NQ320K beside the nearest setting of this study (%)."
  scale     = var.scale
  stubs     = ["Published by", "Known of it", "Here"]
  columns   = [for id in ["recall_1", "recall_10", "recall_100", "mrr_100"] : { id = id, title = local.measures[id], field = "percent.${id}", format = "fixed", decimals = 1 }]
  rows      = [for p in local.rebuilt : { id = p.id, titles = [p.title, p.known, p.cell], value = step.score.nq[p.cell].report }]
  expect = flatten([
    for p in local.rebuilt : [for measure, value in p.values : { cell = "${p.id}.${measure}", value = value, tolerance = 1, near = 3, severity = "info", source = p.source }]
  ])
}
