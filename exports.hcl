# --- Datasets ----------------------------------------------------------------------------------

# What a reader takes away: every collection in every form, with the identifiers that models were trained on.
# docs/exports.md says how to load them. The released layout has no name for SimpleNorm.

step "serialize" "simplified" {
  for_each  = local.sample ? {} : local.all_collections
  records   = local.all_records
  documents = step.dedup.nq[each.key].documents
  form      = "simplified"

  check "every document has a text" {
    counts = "documents"
    equals = "documents"
    of     = "documents"
  }
}

locals {
  serialized = merge(
    step.serialize.nq,
    { for collection, s in step.serialize.whole : "${collection}/simple_norm" => s },
    { for collection, s in step.serialize.simplified : "${collection}/simplified" => s },
  )
}

step "export" "nq320k" {
  for_each  = product({ collection = keys(local.all_collections), form = keys(local.all_forms) })
  documents = step.dedup.nq[each.value.collection].documents
  queries   = step.dedup.nq[each.value.collection].queries
  corpus    = local.serialized[each.key].corpus
  report    = local.serialized[each.key].report
  identifiers = {
    for id, by in { for id, t in local.paper_types : id => join("/", [for b in t.by : merge({ budget = "dsi" }, each.value)[b]]) } :
    id => local.paper_types[id].steps[by].ids if contains(keys(local.paper_types[id].steps), by)
  }
  formats  = concat(["jsonl", "parquet", "trec", "beir"], each.value.form == "simple_norm" ? [] : ["redsi"])
  name     = "NQ320K-${local.all_collections[each.value.collection]}/${local.all_forms[each.value.form]}"
  key      = each.value.collection
  form     = replace(each.value.form, "_", "")
  settings = { reading = var.reading }
  command  = "redsi run --var scale=${local.scale}${local.sample ? " --var sample_train=${var.sample_train}" : ""} --var reading=${var.reading} -t 'step.export.nq320k[\"${each.key}\"]'"
  origin   = local.real ? "natural_questions" : "generated"
  labels   = values(local.operators)
  counts   = [for key in keys(local.operators) : step.dedup.nq[key].counts]

  check "every document is exported" {
    counts = "documents"
    equals = "documents"
    of     = "documents"
  }
  check "every query is exported" {
    counts = "queries"
    equals = "records"
    of     = "queries"
  }
}

# --- For other papers ----------------------------------------------------------------------------

# What a pipeline that has this one as a module can build on: examples/second-paper.

output "records" {
  description = "Natural Questions as read: step.extract by split, with records and headers."
  value       = { train = step.extract.train, dev = step.extract.dev }
}

output "pages" {
  description = "The table of revisions and their pages."
  value       = local.pages
}

output "dedup" {
  description = "step.dedup by grouping key, such as page_id, with documents, queries and counts."
  value       = step.dedup.nq
}

output "texts" {
  description = "Texts of documents by collection and form, such as page_id/html_norm."
  value       = { for name, s in step.serialize.nq : name => s.corpus }
}

output "runs" {
  description = "What each training run is, by name: COLLECTION/FORM/SIZE/IDENTIFIER/SEED and what a sweep changes."
  value       = local.runs
}

output "ids" {
  description = "Identifiers of documents by run."
  value       = local.ids
}

output "models" {
  description = "Trained models by run."
  value       = { for name, t in step.train.dsi : name => t.model }
}

output "evaluations" {
  description = "Reports of evaluation by run."
  value       = { for name, e in step.evaluate.dsi : name => e.report }
}

output "bert_tokenizer" {
  description = "The tokenizer that titles are normalized with."
  value       = step.download.bert_tokenizer.files
}
