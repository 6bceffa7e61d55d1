# ReDSI: Addressing the Reproducibility and Evaluation Consistency of Differentiable Search Indexing.
# The whole paper. `redsi run` rebuilds it; edit anything and `redsi plan` says what that costs. What is varied most often
# stands first, with examples.
#
# pipelines.hcl and the files beside it are one pipeline, and see each other's names. Their sections, each with its tables
# and figures; docs/reproduction.md lists them by their labels in the paper.
#
# pipelines.hcl, in the order of the paper
#   What to vary          seeds, deduplication, ratios, budgets, identifiers, scale, reading
#   Sources               downloads, the generated corpus
#   Records               nq_format_fields, nq_format_example, nq_token_substitutions, substitution_totals
#   Documents             nq_document_collections_splits, dedup_counts, proportions
#   Qualitative analysis  title_grouping_examples, grouping_effects, shared_title_revision_variation,
#                         fixed_revision_variation, revision_texts, page_id_resolution
#   Document text         document_text_construction, ipa_tokenization_example, nq_text_representation_example
#   Identifiers           naive_identifier_tokenization, semantic_identifier_tokenization
#   Models                weights, hyperparameters, every run by its name, training, evaluation
# results.hcl
#   Results               published_dsi_nq, indexing_retrieval_ratio_mrr, ratio_averages, nq320k_identifier_comparison,
#                         smallest_models, identifier_gaps, downscaling, training_updates, decoding_by_model_scale
#   Figures of results    model_scaling, model_scaling_and_training, identifier_validity
# results_appendices.hcl
#   Appendices            indexing_retrieval_ratio, hparams_controlled_full, pradeep_settings,
#                         representation_grouping_seeds, representation_grouping_effects, invalid_40, budget_decoding,
#                         budget_effects
# results_baselines.hcl
#   Baselines             baselines, a table that the paper does not have: BM25 and vectors on the same queries
# sample.hcl
#   What a sample can say sample_shares, sample_directions
# expected.hcl            what the paper prints, with tolerances, and what the generated corpus gives
# claims.hcl              what the paper says of its numbers
# checklist.hcl           what conferences ask
# exports.hcl
#   Datasets              the collections for others to load
#   For other papers      outputs
# pipelines.test.hcl      redsi test: what the plans at each scale are held to
#
# docs/ is that of github.com/redsi/redsi.

paper {
  title   = "ReDSI: Addressing the Reproducibility and Evaluation Consistency of Differentiable Search Indexing for Document Retrieval"
  authors = ["Vivien Nicolas", "Hicham Randrianarivo", "Pascale Sébillot", "Caio Corro"]

  # What the report of a sample, checks and the end of a run say beside "not a reproduction of the paper".
  part = var.scale != "sample" || var.sample_train == 50 && var.sample_updates == "paper" ? "" : join("", [
    "${(length(var.nq_train) > 0 ? length(var.nq_train) : var.nq_from == "hub" ? ceil(var.sample_train * 287 / 50) : var.sample_train) + (length(var.nq_dev) > 0 ? length(var.nq_dev) : var.nq_from == "hub" ? 7 : 5)} of ${var.nq_from == "hub" ? 294 : 55} files of Natural Questions",
    var.nq_from == "hub" ? " as ${var.hub} has them" : var.nq_bucket == "gs://natural_questions/v1.0" ? "" : " as ${var.nq_bucket} has them",
    ", ${var.sample_updates == "paper" ? "all" : regexreplace(regexreplace(var.sample_updates, "(\\d)(\\d{3})$", "$1,$2"), "(\\d)(\\d{3}),", "$1,$2,")} of 1,000,000 updates",
  ])
}

# --- What to vary --------------------------------------------------------------------------------

# Edit a default, or try it first: `redsi plan --var 'seeds=[42, 43, 44, 45, 46, 47]'` says what is new. All else is a HIT.

# Add a seed: [42, 43, 44, 45, 46, 47]
variable "seeds" {
  description = "Seeds of T5-Efficient-Tiny, the model whose runs are repeated. Other models are trained with 42."
  default     = [42, 43, 44, 45, 46]
}

# Add a rule of deduplication: { page_or_title = { key = "page_id", fallback = "title" } }
variable "more_dedup" {
  description = "Rules beside the paper's ten, by name: key, fallback, representative and record_order as `redsi kinds dedup` has them. Each is a row of tab:dedup-counts."
  default     = {}
  validation {
    condition     = alltrue([for d in values(var.more_dedup) : length(setsubtract(keys(d), ["key", "fallback", "representative", "record_order"])) == 0])
    error_message = "A rule of more_dedup has key, and may have fallback, representative and record_order."
  }
}

# Add a ratio: ["0:1", "natural", "1:1", "2:1", "4:1", "8:1", "16:1", "32:1", "64:1"]
variable "ratios" {
  description = "Ratios of indexing to retrieval examples. T5-Base is trained with each, under every type of identifiers."
  default     = ["0:1", "natural", "1:1", "4:1", "8:1", "16:1", "32:1", "64:1"]
}

# Add a budget: [1, 2, 4, 8, 16, 32, 64]
variable "budgets" {
  description = "Assignment-space budgets of naive identifiers as multiples of the documents, beside DSI's 320K. T5-Base is trained with each."
  default     = [1, 2, 4, 8, 16, 32]
}

# Add a type of identifiers: ["residual"]
variable "more_identifiers" {
  description = "Types of identifiers beside the paper's three: residual, title."
  default     = []
  validation {
    condition     = length(setsubtract(toset(var.more_identifiers), ["residual", "title"])) == 0
    error_message = "more_identifiers is a list; it may have residual and title."
  }
}

# Your own files: nq_train, nq_dev and the others of section Sources.

variable "scale" {
  description = "full: the real data. sample: a part of them and of the updates, in an evening. toy: a generated corpus that has every case the paper studies."
  default     = "full"
  validation {
    condition     = contains(["full", "sample", "toy"], var.scale)
    error_message = "scale is full, sample or toy."
  }
}

# Grow a sample: 2, 10, 50. Files that were read are not read again. With 50, and paper below, it is the run of scale full.
variable "sample_train" {
  description = "With scale = sample: how many of the 50 train files are read, or as large a part of the hub's 287. The development split is whole."
  default     = 1
  validation {
    condition     = var.sample_train >= 1 && var.sample_train <= 50 && floor(var.sample_train) == var.sample_train
    error_message = "sample_train is a whole number from 1 to 50."
  }
}

variable "sample_updates" {
  description = "With scale = sample: updates of each training, or paper: the paper's 1,000,000."
  type        = string
  default     = "600"
  validation {
    condition     = var.sample_updates == "paper" || can(regex("^[1-9][0-9]{0,6}$", var.sample_updates))
    error_message = "sample_updates is a number of updates, or paper."
  }
}

# Where the paper and its released code both say what to do and disagree, and which of them this run follows. Where only one
# of them speaks, that one is followed by both: docs/reproduction.md has every choice.
variable "reading" {
  description = "paper: what the paper says. released: what its released code does."
  default     = "paper"
  validation {
    condition     = contains(["paper", "released"], var.reading)
    error_message = "reading is paper or released."
  }
}

locals {
  readings = {
    paper = {
      nci_content         = false      # NciNorm is title and abstract
      gap                 = "any"      # white space between two words is a blank
      pronunciation_spans = "first"    # of a document is removed, if it is a pronunciation
      footer              = "stop"     # a footer section ends the document
      table_first         = "header"   # a table with a header row is read by it, also with two columns
      empty_items         = "numbered" # empty list items go
      atomic_eos          = false      # an atomic identifier is one token
      validity            = "tokens"   # a hypothesis is valid if its tokens are an identifier's
      repeats             = "uniform"  # a ratio repeats all documents alike
    }
    released = {
      nci_content         = true
      gap                 = "blank"
      pronunciation_spans = "all"
      footer              = "section"
      table_first         = "key_value"
      empty_items         = "kept"
      atomic_eos          = true
      validity            = "text"
      repeats             = "by_queries"
    }
  }
  reading = local.readings[var.reading]
}

# --- Sources ---------------------------------------------------------------------------------

variable "nq_from" {
  description = "Where Natural Questions are had from: bucket, Google's files in nq_bucket; or hub, the same records as Parquet at huggingface.co: 287 files, 55 GB, and 7, 1.3 GB."
  default     = "bucket"
  validation {
    condition     = contains(["bucket", "hub"], var.nq_from)
    error_message = "nq_from is bucket or hub."
  }
}

variable "nq_bucket" {
  description = "Where Natural Questions are: folders train and dev of the full format."
  default     = "gs://natural_questions/v1.0"
}

variable "hub" {
  description = "Where pretrained models, and with nq_from = hub Natural Questions, are downloaded from, or a mirror of it."
  default     = "https://huggingface.co"
}

variable "nq_train" {
  description = "Natural Questions, full format, train: 50 shards, 42 GB."
  default     = []
}

variable "nq_dev" {
  description = "Natural Questions, full format, dev: 5 shards, 1 GB."
  default     = []
}

variable "nq_simplified" {
  description = "Natural Questions, simplified format, train: 4.4 GB. Only the table of formats looks at it."
  default     = []
}

variable "stub_dump" {
  description = "stub-meta-history of the English Wikipedia of December 20, 2018: 60 GB."
  default     = ["https://archive.org/download/enwiki-20181220/enwiki-20181220-stub-meta-history.xml.gz"]
}

variable "page_table" {
  description = "Revisions and their pages, in place of the dump: CSV or JSON lines with oldid and pageid. Empty: the dump."
  default     = []
}

variable "pages_from" {
  description = "Where the pages of revisions are had from: dump, or api: Wikipedia is asked, as it is today. Empty: api with scale = sample, else dump. page_table goes before both."
  default     = ""
  validation {
    condition     = contains(["", "dump", "api"], var.pages_from)
    error_message = "pages_from is dump, api or empty."
  }
}

variable "wikipedia_api" {
  description = "With pages_from = api: address of Wikipedia's api.php, or of a mirror's."
  default     = "https://en.wikipedia.org/w/api.php"
}

variable "contact" {
  description = "With pages_from = api: your e-mail address or web page, which Wikipedia asks programs to say."
  default     = ""
  ask         = "Wikipedia asks programs to say how to reach their user. Your e-mail address or web page:"
}

variable "compare_pages" {
  description = "Read the dump beside page_table or the API, and compare the two."
  default     = false
}

variable "toy_pages" {
  description = "Pages of the generated corpus."
  default     = 60
}

locals {
  real   = var.scale != "toy"                                                     # Natural Questions, pretrained models
  whole  = var.scale == "full" || var.scale == "sample" && var.sample_train == 50 # all records of the paper
  full   = var.scale == "full" || local.whole && var.sample_updates == "paper"    # and all its trainings
  sample = local.real && !local.full

  # At which scale tables and figures are: their numbers are the paper's at scale full, and no others'. What is of the
  # development split alone, or of no data, has the paper's numbers in a sample, too; from other places, who knows.
  scale    = local.full ? "full" : var.scale
  original = (var.nq_from == "hub" ? var.hub == "https://huggingface.co" : var.nq_bucket == "gs://natural_questions/v1.0") && length(var.nq_train) == 0 && length(var.nq_dev) == 0
  scales = {
    data = local.full || local.whole && local.original ? "full" : var.scale
    dev  = local.full || local.real && local.original ? "full" : var.scale
    none = local.real ? "full" : var.scale
  }

  # Why a sample leaves tables and figures out.
  without = {
    simplified = "It needs Natural Questions in the simplified format, 4.4 GB: a sample downloads no more than 2.5 GB."
    sweep      = "It needs more trainings than the twelve of a sample: one for each type of identifiers and variant of the collection."
    sizes      = "It compares sizes of models, and a sample trains only the smallest."
    base       = "It is about the whole training of T5-Base. A sample trains T5-Efficient-Tiny, for fewer updates."
  }

  pages_from = var.pages_from != "" ? var.pages_from : var.scale == "sample" ? "api" : "dump"
  read_dump  = length(var.page_table) == 0 && local.pages_from == "dump" || var.compare_pages
  ask_api    = length(var.page_table) == 0 && local.pages_from == "api"
  nq_files = {
    bucket = {
      train = [for i in range(var.scale == "sample" ? var.sample_train : 50) : format("%s/train/nq-train-%02d.jsonl.gz", var.nq_bucket, i)]
      dev   = [for i in range(5) : format("%s/dev/nq-dev-%02d.jsonl.gz", var.nq_bucket, i)]
    }
    hub = {
      train = [for i in range(var.scale == "sample" ? ceil(var.sample_train * 287 / 50) : 287) : format("%s/default/train-%05d-of-00287.parquet", local.nq_revision, i)]
      dev   = [for i in range(7) : format("%s/dev/validation-%05d-of-00007.parquet", local.nq_revision, i)]
    }
  }
  nq_revision = "${var.hub}/datasets/google-research-datasets/natural_questions/resolve/e8103d566bef4154c2c12b17c6095ec5275840cc"
  nq_bytes    = { bucket = { train = 0.85e9, dev = 0.2e9 }, hub = { train = 0.1934e9, dev = 0.1912e9 } } # of a file, about
  sources = {
    simplified = length(var.nq_simplified) > 0 ? var.nq_simplified : ["gs://natural_questions/v1.0-simplified/simplified-nq-train.jsonl.gz"]
    train      = length(var.nq_train) > 0 ? var.nq_train : local.nq_files[var.nq_from].train
    dev        = length(var.nq_dev) > 0 ? var.nq_dev : local.nq_files[var.nq_from].dev
    stub       = var.stub_dump
  }
}

step "download" "nq" {
  for_each = { for name, urls in local.sources : name => urls if local.real && (name != "stub" || local.read_dump) && (name != "simplified" || local.whole) }
  urls     = each.value
  license  = "CC BY-SA 3.0"
  bytes    = local.original ? { train = local.nq_bytes[var.nq_from].train * length(each.value), dev = local.nq_bytes[var.nq_from].dev * length(each.value), simplified = 4.4e9, stub = 60e9 }[each.key] : null
}

step "synth" "nq" {
  for_each        = local.real ? [] : ["toy"]
  pages           = var.toy_pages
  train_questions = 4 * var.toy_pages
  dev_questions   = var.toy_pages
}

step "download" "bert_tokenizer" {
  urls    = ["assets/tokenizers/bert-base-uncased-tokenizer.json.gz"]
  license = "BSD-3-Clause"
}

step "download" "t5_tokenizer" {
  urls    = ["assets/tokenizers/t5-tokenizer.json.gz"]
  license = "BSD-3-Clause"
}

locals {
  train_files      = local.real ? step.download.nq["train"].files : step.synth.nq["toy"].train
  dev_files        = local.real ? step.download.nq["dev"].files : step.synth.nq["toy"].dev
  simplified_files = local.real ? try(step.download.nq["simplified"].files, null) : step.synth.nq["toy"].simplified
  both_formats     = local.whole || !local.real
}

# --- Records (appendix "Natural Questions") ------------------------------------------------------

# Checks of steps stop what reads a result that cannot be right: what was lost on the way from records to training data.
# What only differs from the paper's data, at scale full, is a warning.

# Three of the ten operators of tab:dedup-counts read the title in a record's URL.
step "extract" "train" {
  files   = local.train_files
  split   = "train"
  require = ["title"]

  check "all records of the paper" {
    counts   = "records"
    equals   = local.scales.data == "full" ? 307373 : null
    severity = "warning"
  }
  check "no record is skipped" {
    counts   = "skipped"
    max      = 0
    severity = "warning"
  }
}

step "extract" "dev" {
  files   = local.dev_files
  split   = "dev"
  require = ["title"]

  check "all records of the paper" {
    counts   = "records"
    equals   = local.scales.dev == "full" ? 7830 : null
    severity = "warning"
  }
  check "no record is skipped" {
    counts   = "skipped"
    max      = 0
    severity = "warning"
  }
}

# Training examples come in both formats. The full one counts; the simplified one must say the same.
step "extract" "simplified" {
  when      = local.both_formats
  otherwise = local.without.simplified
  files     = local.simplified_files
  split     = "train"
}

step "compare_formats" "train" {
  when       = local.both_formats
  otherwise  = local.without.simplified
  full       = step.extract.train.records
  simplified = step.extract.simplified.records

  check "every record of the full format is there" {
    field    = "report:full"
    equals   = "records"
    of       = "full"
    severity = "warning"
  }
  check "every record is in both formats" {
    counts   = "both"
    equals   = "report:full"
    severity = "warning"
  }
  check "both formats say the same" {
    counts   = "differ"
    max      = 0
    severity = "warning"
  }
}

step "format_fields" "nq" {
  when       = local.both_formats
  otherwise  = local.without.simplified
  full       = local.dev_files
  simplified = local.simplified_files
}

table "nq_format_fields" {
  when      = local.both_formats
  otherwise = local.without.simplified
  paper     = "tab:nq-format-fields"
  caption   = "Availability of the principal fields and alignment information in the full and simplified NQ formats. Entries marked with † are used by at least one document-construction or grouping variant considered in this work. The byte offsets associated with <tt>document_tokens</tt> link each stored token to its original span in <tt>document_html</tt>."
  scale     = local.scales.data
  stubs     = ["Field or information"]
  columns   = [for f in ["full", "simplified"] : { id = f, title = title(f), format = "text", align = "c" }]
  rows = concat(
    [
      for f in ["example_id", "question_text", "question_tokens", "document_url", "document_title", "document_html", "document_tokens", "document_text"] :
      { id = f, titles = ["<tt>${f}</tt>${startswith(f, "document_") ? "<sup>†</sup>" : ""}"], value = step.format_fields.nq.report, fields = { full = "full.fields.${f}", simplified = "simplified.fields.${f}" } }
    ],
    [{ rule = true }, { section = "<i>Alignment information</i>" }],
    [
      for f in ["Document-token HTML byte offsets", "Long-answer token offsets", "Long-answer byte offsets", "Short-answer token offsets", "Short-answer byte offsets"] :
      { id = f, titles = ["${f}${startswith(f, "Document-") ? "<sup>†</sup>" : ""}"], value = step.format_fields.nq.report, fields = { full = "full.fields.${f}", simplified = "simplified.fields.${f}" } }
    ],
  )
  expect = local.expected["table.nq_format_fields"]
}

# fig:nq-format-example
step "format_example" "nq" {
  when       = local.both_formats
  otherwise  = local.without.simplified
  full       = local.train_files
  simplified = local.simplified_files
  example_id = local.whole ? "6915606477668963399" : ""
}

figure "nq_format_example" {
  when      = local.both_formats
  otherwise = local.without.simplified
  paper     = "fig:nq-format-example"
  caption   = "Excerpt of an example in the full (left) and in the simplified format (right). Lists and strings are cut."
  scale     = local.scales.data
  width     = 16
  panels = [
    for form in ["full", "simplified"] :
    { heading = "NQ ${form}", value = step.format_example.nq.report, field = form, budget = 2200 }
  ]
  expect = local.expected["figure.nq_format_example"]
}

step "substitutions" "dev" {
  records      = step.extract.dev.records
  t5_tokenizer = step.download.t5_tokenizer.files

  check "every record is compared" {
    field  = "report:records"
    equals = "records"
    of     = "records"
  }
  check "no more tokens differ than are compared" {
    counts = "mismatches"
    max    = "compared"
  }
}

table "nq_token_substitutions" {
  paper   = "tab:nq-token-substitutions"
  caption = "Most frequent substitutions between visible strings in document_tokens and their byte-aligned spans in document_html on the NQ development set. Under the two <tt><unk></tt> columns, ✓ indicates that the string produces an unknown token with the T5 tokenizer, while – indicates that it does not. Count gives the number of token occurrences, and Records gives the number of affected NQ examples."
  scale   = local.scales.dev
  stubs   = []
  columns = [
    { id = "html", title = "HTML", format = "text" },
    { id = "stored", title = "Stored token", format = "text" },
    { id = "html_unk", title = "HTML", groups = ["Contains <unk>"], format = "text", align = "c" },
    { id = "stored_unk", title = "Stored", groups = ["Contains <unk>"], format = "text", align = "c" },
    { id = "count", title = "Count", format = "integer" },
    { id = "records", title = "Records", format = "integer" },
  ]
  rows   = [for i in range(10) : { id = "pair${i + 1}", value = step.substitutions.dev.report, at = "top.${i}" }]
  expect = local.expected["table.nq_token_substitutions"]
}

# "1.88M of 54.13M compared tokens differ, corresponding to 3.47% of the tokens and 22,333 distinct replacement pairs."
table "substitution_totals" {
  paper   = "app:nq-token-substitutions"
  caption = "All substitutions on the NQ development set (appendix “Character Substitutions in the NQ Preprocessing Pipeline”)."
  scale   = local.scales.dev
  stubs   = ["Quantity"]
  columns = [{ id = "n", title = "Value", format = "integer" }]
  rows = [
    for r in [
      ["records", "Records", "records", "integer", 0, 1],
      ["mismatches", "Tokens that differ from their span", "mismatches", "integer", 0, 1],
      ["compared", "Compared tokens", "compared", "integer", 0, 1],
      ["percent", "Share (%)", "share", "fixed", 2, 100],
      ["pairs", "Distinct replacement pairs", "pairs", "integer", 0, 1],
      ["top", "Share of the ten most frequent pairs (%)", "top_share", "fixed", 1, 100],
    ] : { id = r[0], titles = [r[1]], value = step.substitutions.dev.report, fields = { n = r[2] }, format = r[3], decimals = r[4], scale = r[5] }
  ]
  expect = local.expected["table.substitution_totals"]
}

# --- Documents (section "Document Deduplication") ----------------------------------------------

step "pages" "nq" {
  for_each = local.read_dump ? ["dump"] : []
  headers  = [step.extract.train.headers, step.extract.dev.headers]
  dump     = local.real ? step.download.nq["stub"].files : step.synth.nq["toy"].stub

  check "no more revisions are found than records name" {
    counts = "revisions_found"
    max    = "revisions_wanted"
  }
  check "the dump has revisions that records name" {
    counts   = "revisions_found"
    min      = 1
    severity = "warning"
  }
  check "the paper's revisions are wanted" {
    counts   = "revisions_wanted"
    equals   = local.scales.data == "full" ? 231695 : null
    severity = "warning"
  }
}

step "download" "page_table" {
  for_each = length(var.page_table) > 0 ? ["table"] : []
  urls     = var.page_table
}

step "page_table" "nq" {
  for_each = step.download.page_table
  table    = each.value.files
}

step "pages_api" "nq" {
  for_each = local.ask_api ? ["api"] : []
  headers  = [step.extract.train.headers, step.extract.dev.headers]
  api      = var.wikipedia_api
  contact  = var.contact

  check "the wiki has revisions that records name" {
    counts   = "revisions_found"
    min      = 1
    severity = "warning"
  }
}

step "compare_pages" "nq" {
  for_each = local.read_dump ? merge(step.page_table.nq, step.pages_api.nq) : {}
  a        = step.pages.nq["dump"].table
  b        = each.value.table
}

locals {
  pages = length(var.page_table) > 0 ? step.page_table.nq["table"].table : local.ask_api ? step.pages_api.nq["api"].table : step.pages.nq["dump"].table

  # The operators of tab:dedup-counts, as the table names them.
  operators = {
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
  dedup_groups = [
    { section = "Text-derived keys", keys = ["text4k_cased", "text4k"] },
    { section = "URL-derived key", keys = ["url"] },
    { section = "Title-derived keys", keys = ["url_title_cased", "url_title", "h1_cased", "h1", "nci_h1", "title"] },
    { section = "Page-identity key", keys = ["page_id"] },
  ]
}

step "dedup" "nq" {
  for_each       = merge({ for key in keys(local.operators) : key => { key = key } }, var.more_dedup)
  train          = step.extract.train.headers
  dev            = step.extract.dev.headers
  pages          = local.pages
  tokenizer      = step.download.bert_tokenizer.files
  key            = each.value.key
  fallback       = try(each.value.fallback, null)
  representative = try(each.value.representative, null)
  record_order   = try(each.value.record_order, null)

  check "no record is lost" {
    counts = "records"
    equals = "records"
    of     = ["train", "dev"]
  }
  check "no training record is lost" {
    field  = "counts:records.train"
    equals = "records"
    of     = "train"
  }
  check "no development record is lost" {
    field  = "counts:records.dev"
    equals = "records"
    of     = "dev"
  }
  check "no more documents than records" {
    counts = "documents"
    min    = 1
    max    = "records"
  }
  check "every record names a revision" {
    counts   = "records_without_revision"
    max      = 0
    severity = "warning"
  }
  check "PageIDs resolve as in the paper" {
    field    = "counts:resolution.resolved_percent"
    min      = local.scales.data == "full" ? 99.945 : null
    severity = "warning"
  }
}

table "nq_document_collections_splits" {
  paper   = "tab:nq-document-collections-splits"
  caption = "Number of documents produced by each deduplication rule in the training split, development split, and combined collection."
  scale   = local.scales.data
  stubs   = ["<b>Collection</b>"]
  columns = [
    for c in [["train", "<b>Train</b>"], ["dev", "<b>Dev</b>"], ["union", "|D|"]] :
    { id = c[0], title = c[1], format = local.whole ? "kilo" : "integer", decimals = local.whole ? 1 : 0 }
  ]
  rows = concat(
    [
      { id = "dsi", titles = ["Original DSI dataset"], texts = { train = "–", dev = "–", union = "228 K" } },
      { rule = true },
    ],
    [
      for key in ["text4k", "title", "url", "page_id"] :
      { id = key, titles = ["<sc>NQ320K-${local.operators[key]}</sc>"], value = step.dedup.nq[key].counts, at = "documents" }
    ],
  )
  expect = local.expected["table.nq_document_collections_splits"]
}

table "dedup_counts" {
  paper   = "tab:dedup-counts"
  caption = "Distinct NQ targets produced by different deduplication comparison operators. Train and Dev apply grouping independently within each split. Union applies grouping jointly and gives the indexed collection size. The principal operators are <sc>Text4K</sc>, <sc>URL</sc>, <sc>Title</sc>, and <sc>PageID</sc>."
  scale   = local.scales.data
  stubs   = ["Grouping key"]
  columns = [for id in ["train", "dev", "union"] : { id = id, title = title(id), format = "integer" }]
  rows = concat(
    [{ id = "records", titles = ["Input records"], value = step.dedup.nq["url"].counts, at = "records" }],
    flatten([
      for g in local.dedup_groups : concat(
        [{ rule = true }, { section = "<i>${g.section}</i>" }],
        [for key in g.keys : { id = key, titles = ["<sc>${local.operators[key]}</sc>"], value = step.dedup.nq[key].counts, at = "documents" }],
      )
    ]),
    [for mark in [{ rule = true }] : mark if length(var.more_dedup) > 0],
    [for name in keys(var.more_dedup) : { id = name, titles = [name], value = step.dedup.nq[name].counts, at = "documents" }],
  )
  expect = local.expected["table.dedup_counts"]
}

# What "approximately 1:2.8" and "b = 320K ≈ 2.9 |D|" follow from.
table "proportions" {
  paper   = "app:indexing-retrieval-ratio"
  caption = "Queries, documents and DSI's budget of identifiers under <sc>NQ320K-Title</sc>."
  scale   = local.scales.data
  stubs   = ["Quantity"]
  columns = [{ id = "n", title = "Number", format = "integer" }]
  rows = [
    { id = "queries", titles = ["Training queries"], value = step.dedup.nq["url"].counts, fields = { n = "records.train" } },
    { id = "documents", titles = ["Documents"], value = step.dedup.nq["title"].counts, fields = { n = "documents.union" } },
    { id = "budget", titles = ["DSI's budget"], numbers = { n = 320000 } },
  ]
  expect = try(local.expected["table.proportions"], [])
}

# --- Qualitative analysis (section "Qualitative Analysis of NQ320K" and its appendices) ---------

step "dedup_diagnostics" "nq" {
  train     = step.extract.train.headers
  dev       = step.extract.dev.headers
  pages     = local.pages
  tokenizer = step.download.bert_tokenizer.files
  fragment  = local.whole ? "Elsa (Disney)" : ""
  collision = local.whole ? "It Takes a Village" : ""

  check "every training query is looked at" {
    field  = "report:affected.train.of"
    equals = "records"
    of     = "train"
  }
  check "every development query is looked at" {
    field  = "report:affected.dev.of"
    equals = "records"
    of     = "dev"
  }
}

table "title_grouping_examples" {
  paper   = "tab:title-grouping-examples"
  caption = "Examples of fragmentation and cross-page collision under title grouping."
  scale   = local.scales.data
  stubs   = [""]
  columns = [
    { id = "a", title = "Document A", format = "text" },
    { id = "b", title = "Document B", format = "text" },
  ]
  rows = flatten([
    for e in [["fragment", "Fragmentation: one PageID, multiple titles"], ["collision", "Collision: one title key, multiple PageIDs"]] : [
      [for mark in [{ rule = true }] : mark if e[0] != "fragment"],
      { section = "<b>${e[1]}</b>" },
      { id = "${e[0]}_title", titles = ["Title"], value = step.dedup_diagnostics.nq.report, fields = { a = "${e[0]}.names.0.title", b = "${e[0]}.names.1.title" } },
      { id = "${e[0]}_page_id", titles = ["PageID"], value = step.dedup_diagnostics.nq.report, fields = { a = "${e[0]}.names.0.page_id", b = "${e[0]}.names.1.page_id" } },
    ]
  ])
  expect = local.expected["table.title_grouping_examples"]
}

table "grouping_effects" {
  caption = "What title grouping does to pages, and what PageID grouping mends (section “Qualitative Analysis of NQ320K”)."
  paper   = "sec:construction-results"
  scale   = local.scales.data
  stubs   = ["Quantity"]
  columns = [{ id = "n", title = "Value", format = "integer" }]
  rows = [
    for r in [
      ["fragmented", "Fragmented pages", "fragmented_pages", "integer", 0],
      ["collisions", "PageIDs in collisions", "colliding_pages", "integer", 0],
      ["affected_train", "Affected training queries (%)", "affected.train.percent", "fixed", 2],
      ["affected_dev", "Affected development queries (%)", "affected.dev.percent", "fixed", 2],
      ["additional", "Additional training queries with a development target", "additional_queries", "integer", 0],
      ["coverage_title", "Supervision coverage under Title (%)", "coverage.percent", "fixed", 1],
      ["coverage_page_id", "Supervision coverage under PageID (%)", "reference_coverage.percent", "fixed", 1],
    ] : { id = r[0], titles = [r[1]], value = step.dedup_diagnostics.nq.report, fields = { n = r[2] }, format = r[3], decimals = r[4] }
  ]
  expect = local.expected["table.grouping_effects"]
}

step "revision_variation" "nq" {
  records = [step.extract.train.records, step.extract.dev.records]
  oldids  = local.whole ? [815185445, 787133819] : []
  shared  = local.whole ? [804434627, 843537108, 805035333, 826663643] : []

  check "every record is read" {
    field    = "report:records"
    equals   = "records"
    of       = "records"
    severity = "warning"
  }
  check "the paper's revisions are there" {
    counts   = "revisions"
    equals   = local.scales.data == "full" ? 231695 : null
    severity = "warning"
  }
}

table "shared_title_revision_variation" {
  paper   = "tab:shared-title-revision-variation"
  caption = "Examples of NQ records sharing a title but containing revision-specific text with different apparent scopes. These examples establish content variation but do not determine whether each pair shares a PageID."
  wide    = true
  scale   = local.scales.data
  stubs   = []
  columns = [for c in [["title", "Shared title"], ["a", "Revision A"], ["b", "Revision B"]] : { id = c[0], title = c[1], format = "text" }]
  rows = flatten([
    for i in range(2) : [
      [for mark in [{ space = true }] : mark if i > 0],
      { id = "oldid${i + 1}", format = "text", prefix = "oldid=", value = step.revision_variation.nq.report, at = "shared.${i}", fields = { a = "oldid_a", b = "oldid_b" } },
      { id = "text${i + 1}", under = true, value = step.revision_variation.nq.report, at = "shared.${i}", texts = { title = " " } },
    ]
  ])
  expect = local.expected["table.shared_title_revision_variation"]
}

table "fixed_revision_variation" {
  paper   = "tab:fixed-revision-variation"
  caption = "Rendered-text variation among NQ records with the same Wikipedia revision identifier."
  wide    = true
  scale   = local.scales.data
  stubs   = []
  columns = [for c in [["title", "Article and revision"], ["a", "Variant A"], ["b", "Variant B"]] : { id = c[0], title = c[1], format = "text" }]
  rows = flatten([
    for i in range(2) : [
      [for mark in [{ space = true }] : mark if i > 0],
      { id = "text${i + 1}", value = step.revision_variation.nq.report, at = "examples.${i}" },
      { id = "oldid${i + 1}", under = true, format = "text", prefix = "oldid=", value = step.revision_variation.nq.report, at = "examples.${i}", fields = { title = "oldid" }, texts = { a = " ", b = " " } },
    ]
  ])
  expect = local.expected["table.fixed_revision_variation"]
}

# "We observe 231,695 distinct revision URLs but 241,247 distinct flattened document texts."
table "revision_texts" {
  paper   = "app:fixed-revision-variation"
  caption = "Revisions and the texts that their records have (appendix “Rendered-Text Variation under a Fixed Revision”)."
  scale   = local.scales.data
  stubs   = ["Quantity"]
  columns = [{ id = "n", title = "Value", format = "integer" }]
  rows = [
    for r in [["revisions", "Distinct revision URLs"], ["texts", "Distinct flattened texts"], ["varying", "Revisions with several texts"]] :
    { id = r[0], titles = [r[1]], value = step.revision_variation.nq.report, fields = { n = r[0] == "varying" ? "varying_revisions" : r[0] } }
  ]
  expect = local.expected["table.revision_texts"]
}

# "Of the 231,695 distinct revision identifiers appearing in NQ, 231,589 resolve to a PageID. The remaining 106 identifiers
# cover 156 NQ records."
table "page_id_resolution" {
  paper   = "app:pageid-resolution"
  caption = "Revisions that resolve to a PageID, and records that fall back to their URL title (appendix “PageID Resolution”)."
  scale   = local.scales.data
  stubs   = [""]
  columns = [
    { id = "revisions", title = "Revisions", format = "integer" },
    { id = "resolved", title = "Resolved", field = "resolved_revisions", format = "integer" },
    { id = "rate", title = "Rate (%)", field = "resolved_percent", format = "fixed", decimals = 2 },
    { id = "unresolved", title = "Unresolved", minus = ["revisions", "resolved"], format = "integer" },
    { id = "fallback", title = "Their records", field = "unresolved_records", format = "integer" },
  ]
  rows   = [{ id = "nq", titles = ["NQ"], value = step.dedup.nq["page_id"].counts, at = "resolution" }]
  expect = local.expected["table.page_id_resolution"]
}

# --- Document text (section "Document Serialization") -------------------------------------------

locals {
  # The 2 x 2 design of section "Identifier Type Robustness under Downscaling".
  collections = { title = "Title", page_id = "PageID" }
  forms       = { nci_norm = "NciNorm", html_norm = "HtmlNorm" }
  all_records = [step.extract.train.records, step.extract.dev.records]
  # What the reading decides of each form. An option in a form that it says nothing about would make that one again.
  form_options = {
    nci_norm = { nci_content = local.reading.nci_content }
    html_norm = {
      gap                 = local.reading.gap
      empty_items         = local.reading.empty_items
      table_first         = local.reading.table_first
      footer              = local.reading.footer
      pronunciation_spans = local.reading.pronunciation_spans
    }
  }

  # Models see those of the design; these are exported. A sample exports the former, for its disk.
  all_collections = merge(local.collections, local.sample ? {} : { url = "URL", text4k = "Text4K" })
  all_forms       = merge(local.sample ? {} : { simplified = "Simplified", simple_norm = "SimpleNorm" }, local.forms)
}

step "serialize" "nq" {
  for_each     = product({ collection = keys(local.all_collections), form = keys(local.forms) })
  records      = local.all_records
  documents    = step.dedup.nq[each.value.collection].documents
  form         = replace(each.value.form, "_", "")
  t5_tokenizer = step.download.t5_tokenizer.files
  options      = local.form_options[each.value.form]

  check "every document has a text" {
    counts = "documents"
    equals = "documents"
    of     = "documents"
  }
}

step "first_tokens" "title" {
  a            = step.serialize.nq["title/nci_norm"].corpus
  b            = step.serialize.nq["title/html_norm"].corpus
  t5_tokenizer = step.download.t5_tokenizer.files
  examples     = local.whole ? ["Selena Gomez", "Matt Lanter"] : []

  check "every document is compared" {
    counts = "documents"
    equals = "documents"
    of     = "a"
  }
}

table "document_text_construction" {
  caption = "Differences between <sc>NciNorm</sc> (A) and <sc>HtmlNorm</sc> (B) within the first 32 T5 tokens (section “Qualitative Analysis of NQ320K”)."
  paper   = "sec:construction-results"
  scale   = local.scales.data
  stubs   = ["Share of documents (%)"]
  columns = [{ id = "n", title = "Value", format = "fixed", decimals = 1 }]
  rows = [
    for r in [
      ["differ", "A and B differ", "differ_percent"],
      ["unknown_nci", "<unk> in <sc>NciNorm</sc>", "unknown_a_percent"],
      ["unknown_html", "<unk> in <sc>HtmlNorm</sc>", "unknown_b_percent"],
    ] : { id = r[0], titles = [r[1]], value = step.first_tokens.title.report, fields = { n = r[2] } }
  ]
  expect = local.expected["table.document_text_construction"]
}

table "ipa_tokenization_example" {
  paper   = "tab:ipa-tokenization-example"
  caption = "Two examples of the difference between serialization methods: the first 32 tokens using the T5 tokenizer, where <tt><unk></tt> is the token representing unknown characters."
  wide    = true
  scale   = local.scales.data
  stubs   = [""]
  columns = [{ id = "text", title = "", format = "text" }]
  rows = flatten([
    for i in range(2) : [
      [for mark in [{ rule = true }] : mark if i > 0],
      { id = "nci_norm${i + 1}", titles = ["<sc>NciNorm</sc>"], value = step.first_tokens.title.report, at = "examples.${i}", fields = { text = "a" } },
      { id = "html_norm${i + 1}", titles = ["<sc>HtmlNorm</sc>"], value = step.first_tokens.title.report, at = "examples.${i}", fields = { text = "b" } },
    ]
  ])
  expect = local.expected["table.ipa_tokenization_example"]
}

# fig:nq-text-representation-example
step "text_examples" "woods" {
  headers      = [step.extract.train.headers, step.extract.dev.headers]
  records      = local.all_records
  titles       = local.whole ? ["List of woods"] : []
  t5_tokenizer = step.download.t5_tokenizer.files
  options      = local.form_options.html_norm
}

figure "nq_text_representation_example" {
  paper   = "fig:nq-text-representation-example"
  caption = "Three textual representations constructed from the same NQ page snapshot. <sc>simplified</sc> removes the stored HTML tags but retains the flattened token sequence and page-interface content. <sc>simplenorm</sc> selects the title, abstract, and subsequent article content from that sequence. <sc>htmlnorm</sc> reconstructs the original surface text from the byte-aligned HTML and preserves readable structure. Excerpts are truncated to the same display budget."
  scale   = local.scales.data
  width   = 17
  panels = [
    for form in ["simplified", "simplenorm", "htmlnorm"] :
    { heading = "<sc>${form}</sc>", value = step.text_examples.woods.report, field = "pages.0.texts.${form}", budget = 1600 }
  ]
  expect = local.expected["figure.nq_text_representation_example"]
}

# --- Identifiers (section "Document identifiers") ------------------------------------------------

# fig:naive-identifier-tokenization and fig:semantic-identifier-tokenization
step "id_tokens" "paper" {
  tokenizer = step.download.t5_tokenizer.files
  texts     = ["141913", "18510"]
}

figure "naive_identifier_tokenization" {
  paper   = "fig:naive-identifier-tokenization"
  caption = "Construction and tokenization of the naive identifier <tt>141913</tt>. The identifier space is randomly permuted using a fixed seed, and each document receives a distinct integer from it. T5 tokenizes the resulting decimal string, followed by end-of-sequence."
  scale   = local.scales.none
  width   = 8
  flow = [
    { title = "Document d" },
    { title = "Identifier space", text = "{0, 1, …, b−1}, with b ≥ |D|" },
    { title = "Random permutation with fixed seed", items = ["0", "1", "…", "141913", "…", "b−1"], chosen = "141913", round = true },
    { title = "Decimal identifier", value = step.id_tokens.paper.report, field = "examples.0.text" },
    { title = "T5 SentencePiece tokens", value = step.id_tokens.paper.report, field = "examples.0.pieces" },
    { title = "T5 vocabulary IDs", value = step.id_tokens.paper.report, field = "examples.0.tokens" },
  ]
  expect = local.expected["figure.naive_identifier_tokenization"]
}

figure "semantic_identifier_tokenization" {
  paper   = "fig:semantic-identifier-tokenization"
  caption = "Construction and tokenization of the semantic identifier <tt>18510</tt>. Recursive k-means routes document d through local clusters 1, 8, and 5, producing the semantic prefix <tt>185</tt>. Once the selected cluster contains 100 or less documents, d receives the leaf-local index <tt>10</tt>. T5 generates the resulting identifier by its SentencePiece tokens, followed by end-of-sequence."
  scale   = local.scales.none
  width   = 8
  flow = concat(
    [
      for level, cluster in ["1", "8", "5"] :
      { title = "Recursive k-means, level ${level + 1}", items = [for k in range(10) : tostring(k)], chosen = cluster, round = true }
    ],
    [
      { title = "Terminal cluster C185, |C185| ≤ 100", text = "semantic prefix 185, local index 10" },
      { title = "Semantic identifier", value = step.id_tokens.paper.report, field = "examples.1.text" },
      { title = "T5 SentencePiece tokens", value = step.id_tokens.paper.report, field = "examples.1.pieces" },
      { title = "T5 vocabulary IDs", value = step.id_tokens.paper.report, field = "examples.1.tokens" },
    ],
  )
  expect = local.expected["figure.semantic_identifier_tokenization"]
}

step "atomic_ids" "nq" {
  for_each  = local.collections
  documents = step.dedup.nq[each.key].documents
  eos       = local.reading.atomic_eos

  check "one identifier per document" {
    field  = "report:identifiers"
    equals = "documents"
    of     = "documents"
  }
}

locals {
  # Assignment-space budgets of naive identifiers, as multiples of |D| (fig:budget-decoding). DSI's 320K are 2.9 |D|.
  budgets      = merge({ for b in var.budgets : "${b}x" => b }, { dsi = 2.9 })
  budgets_by_b = concat([for b in var.budgets : "${b}x" if b < 2.9], ["dsi"], [for b in var.budgets : "${b}x" if b >= 2.9])
  dsi_budget   = local.whole ? 320000 : null
  made_budgets = local.sample ? ["dsi"] : keys(local.budgets)
}

step "naive_ids" "nq" {
  for_each  = merge(product({ collection = keys(local.collections), budget = ["dsi"] }), product({ collection = ["title"], budget = local.made_budgets }))
  documents = step.dedup.nq[each.value.collection].documents
  tokenizer = step.download.t5_tokenizer.files
  budget    = each.value.budget == "dsi" ? local.dsi_budget : null
  times     = each.value.budget == "dsi" && local.whole ? null : local.budgets[each.value.budget]

  check "one identifier per document" {
    field  = "report:identifiers"
    equals = "documents"
    of     = "documents"
  }
}

# Semantic identifiers cluster the embeddings of titles and whole texts: NciNorm's go on after the first paragraph, as
# SimpleNorm's do.
step "serialize" "whole" {
  for_each  = local.all_collections
  records   = local.all_records
  documents = step.dedup.nq[each.key].documents
  form      = "simplenorm"

  check "every document has a text" {
    counts = "documents"
    equals = "documents"
    of     = "documents"
  }
}

locals {
  texts = merge(
    { for c in keys(local.collections) : "${c}/nci_norm" => step.serialize.whole[c].corpus },
    { for c in keys(local.collections) : "${c}/html_norm" => step.serialize.nq["${c}/html_norm"].corpus },
  )
}

step "download" "bert" {
  for_each = local.real ? { "google/bert_uncased_L-8_H-512_A-8" = "53b17ea0d90728ac770dfd13fcb3abdc75e4f4bf" } : {}
  urls     = [for f in ["config.json", "pytorch_model.bin"] : "${var.hub}/${each.key}/resolve/${each.value}/${f}"]
  license  = "Apache-2.0"
  bytes    = 166e6
}

step "embed" "nq" {
  for_each  = local.real ? local.texts : {}
  corpus    = each.value
  documents = step.dedup.nq[split("/", each.key)[0]].documents
  model     = step.download.bert["google/bert_uncased_L-8_H-512_A-8"].files
  tokenizer = step.download.bert_tokenizer.files
}

# The generated corpus needs no pretrained encoder: its words are hashed.
step "embed_hashing" "nq" {
  for_each  = local.real ? {} : local.texts
  corpus    = each.value
  documents = step.dedup.nq[split("/", each.key)[0]].documents

  check "every document is embedded" {
    counts = "documents"
    equals = "documents"
    of     = "documents"
  }
}

step "semantic_ids" "nq" {
  for_each   = product({ collection = keys(local.collections), form = keys(local.forms) })
  documents  = step.dedup.nq[each.value.collection].documents
  embeddings = local.real ? step.embed.nq[each.key].embeddings : step.embed_hashing.nq[each.key].embeddings
  tokenizer  = step.download.t5_tokenizer.files
  leaf_size  = local.real ? 100 : 10

  check "one identifier per document" {
    field  = "report:identifiers"
    equals = "documents"
    of     = "documents"
  }
}

# No type of the paper: residual-quantized codes of the same embeddings.
step "residual_ids" "nq" {
  for_each     = contains(var.more_identifiers, "residual") ? product({ collection = keys(local.collections), form = keys(local.forms) }) : {}
  documents    = step.dedup.nq[each.value.collection].documents
  embeddings   = local.real ? step.embed.nq[each.key].embeddings : step.embed_hashing.nq[each.key].embeddings
  t5_tokenizer = step.download.t5_tokenizer.files
  codes        = local.real ? 256 : 8

  check "one identifier per document" {
    field  = "report:identifiers"
    equals = "documents"
    of     = "documents"
  }
}

# No type of the paper either: the documents' titles.
step "title_ids" "nq" {
  for_each  = contains(var.more_identifiers, "title") ? product({ collection = keys(local.collections), form = keys(local.forms) }) : {}
  documents = step.dedup.nq[each.value.collection].documents
  corpus    = step.serialize.nq[each.key].corpus # of documents without a title, if there are such
  tokenizer = step.download.t5_tokenizer.files

  check "one identifier per document" {
    field  = "report:identifiers"
    equals = "documents"
    of     = "documents"
  }
}

# --- Models (section "Experimental Setup") -------------------------------------------------------

# Types of identifiers, once: which steps make them and what those vary with, what models are trained with, and how tables
# and figures show them. Those that are not of one token are found by beams, free or along the trie, and can be invalid.
# "For atomic identifiers, we retain l = 64, a learning rate of 5e-4, and 10K warmup steps; naive and semantic
# identifiers use l = 32, a learning rate of 1e-3, and no warmup."
locals {
  identifier_types = merge(local.paper_types, { for id, t in local.more_types : id => t if contains(var.more_identifiers, id) })
  paper_types = {
    atomic = {
      title     = "Atomic"
      short     = "At."
      steps     = step.atomic_ids.nq
      by        = ["collection"]
      one_token = true
      selected  = { max_input = "64", learning_rate = "5e-4", warmup = "10K" }
      line      = "dotted"
      color     = "atomic"
    }
    naive = {
      title     = "Naive"
      short     = "Nv."
      steps     = step.naive_ids.nq
      by        = ["collection", "budget"]
      one_token = false
      selected  = { max_input = "32", learning_rate = "1e-3", warmup = "0" }
      line      = "solid"
      color     = "naive"
    }
    semantic = {
      title     = "Semantic"
      short     = "Sm."
      steps     = step.semantic_ids.nq
      by        = ["collection", "form"]
      one_token = false
      selected  = { max_input = "32", learning_rate = "1e-3", warmup = "0" }
      line      = "dashed"
      color     = "semantic"
    }
  }
  more_types = {
    residual = {
      title     = "Residual"
      steps     = step.residual_ids.nq
      by        = ["collection", "form"]
      one_token = false
      selected  = { max_input = "32", learning_rate = "1e-3", warmup = "0" }
      line      = "dash-dot"
      color     = "#cc79a7"
    }
    title = {
      title     = "Title"
      steps     = step.title_ids.nq
      by        = ["collection", "form"]
      one_token = false
      selected  = { max_input = "32", learning_rate = "1e-3", warmup = "0" }
      line      = "dash-dot"
      color     = "#e69f00"
    }
  }
  identifiers = { for id, t in local.identifier_types : id => t.title }
  swept       = { for id, t in local.paper_types : id => t.title } # in sweeps and seeds, and beside other papers' numbers
  beam_found  = [for id, t in local.identifier_types : id if !t.one_token]
}

locals {
  sizes   = { base = "Base", small = "Small", tiny = "Eff.-Tiny" }
  trained = local.sample ? ["tiny"] : keys(local.sizes)

  weights = {
    base  = { repository = "google-t5/t5-base", revision = "a9723ea7f1b39c1eae772870f3b547bf6ef7e6c1", file = "model.safetensors" }
    small = { repository = "google-t5/t5-small", revision = "df1b051c49625cf57a3d0d8d3863ed4d13564fe4", file = "model.safetensors" }
    tiny  = { repository = "google/t5-efficient-tiny", revision = "3441d7e8bf3f89841f366d39452b95200416e4a9", file = "pytorch_model.bin" }
  }
  toy_weights = {
    base  = { layers = 2, d_model = 64, d_ff = 256, heads = 4 }
    small = { layers = 2, d_model = 48, d_ff = 192, heads = 3 }
    tiny  = { layers = 2, d_model = 32, d_ff = 128, heads = 2 }
  }
}

step "download" "t5" {
  for_each = { for size, w in local.weights : size => w if local.real && contains(local.trained, size) }
  urls     = [for f in ["config.json", each.value.file] : "${var.hub}/${each.value.repository}/resolve/${each.value.revision}/${f}"]
  license  = "Apache-2.0"
  bytes    = { tiny = 62e6, small = 242e6, base = 892e6 }[each.key]
}

step "random_t5" "toy" {
  for_each = local.real ? {} : local.toy_weights
  seed     = 42
  layers   = each.value.layers
  d_model  = each.value.d_model
  d_kv     = 16
  d_ff     = each.value.d_ff
  heads    = each.value.heads
  dropout  = 0
}

locals {
  t5 = local.real ? { for size in local.trained : size => step.download.t5[size].files } : { for size, w in local.toy_weights : size => step.random_t5.toy[size].model }

  # "A constant learning rate, 1M updates and minibatches of size 128, with evaluation every 5K updates. Checkpoints are
  # selected by development MRR@10." The toy models have random weights and see little: they need larger steps.
  training = {
    full   = { steps = 1000000, batch = 128, evaluate_every = 5000, precision = "fp16" }
    sample = { steps = local.updates, batch = 128, evaluate_every = min(5000, ceil(local.updates / 2)), precision = "fp32" }
    toy    = { steps = 100, batch = 32, evaluate_every = 25, precision = "fp32" }
  }[local.scale]
  select = "MRR@10"

  # On a machine without a card `redsi run` takes the steps of this queue, too, one at a time, on the processors. Neither
  # queue nor device is in a key, and a sample's precision is one that both have: a card goes on with what processors made.
  queue = local.real ? "gpu" : "cpu"

  # A sample's updates. The paper warms up for a hundredth or a tenth of its updates; so does a sample.
  updates = var.sample_updates == "paper" ? 1000000 : tonumber(var.sample_updates)
  warmups = { "0" = 0, "10K" = 10000, "100K" = 100000 }

  # What tab:hparams-controlled-full sweeps, as it names the values.
  max_input     = { "32" = 32, "64" = 64 }
  learning_rate = local.real ? { "1e-3" = 0.001, "5e-4" = 0.0005 } : { "1e-3" = 0.01, "5e-4" = 0.005 }
  warmup = {
    full   = local.warmups
    sample = { for name, n in local.warmups : name => floor(n * local.updates / 1000000) }
    toy    = { "0" = 0, "10K" = 2, "100K" = 20 }
  }[local.scale]
  selected = { for id, t in local.identifier_types : id => t.selected }
}

# Every training run of the paper, by name. A name says what the run is: COLLECTION/FORM/SIZE/IDENTIFIER/SEED, then what
# a sweep changes. So the run that several tables share is one step.
locals {
  hyper = product({ max_input = keys(local.max_input), learning_rate = keys(local.learning_rate), warmup = keys(local.warmup) })

  # The run that sweeps vary: NQ320K-Title/NciNorm, T5-Base, the selected hyperparameters.
  reference_size = local.sample ? "tiny" : "base"
  reference      = { for id in keys(local.identifiers) : id => "title/nci_norm/${local.reference_size}/${id}/42" }

  # Runs of the sweeps by what they vary; where that is nothing, the reference.
  ratio_runs = {
    for k, v in product({ identifier = keys(local.swept), ratio = var.ratios }) :
    k => v.ratio == "natural" ? local.reference[v.identifier] : "${local.reference[v.identifier]}/ratio=${v.ratio}"
  }
  hyper_runs = {
    for k, v in product({ identifier = keys(local.swept), hyper = keys(local.hyper) }) :
    k => local.hyper[v.hyper] == local.selected[v.identifier] ? local.reference[v.identifier] : join("/", [local.reference[v.identifier], replace(v.hyper, "/", ",")])
  }
  budget_runs = { for b in keys(local.budgets) : b => b == "dsi" ? local.reference.naive : "${local.reference.naive}/budget=${b}" }

  runs = {
    for name, r in merge(
      # tab:nq320k_identifier_comparison
      product({ collection = keys(local.collections), form = keys(local.forms), size = local.trained, identifier = keys(local.identifiers), seed = [42] }),
      { for name, r in local.swept_runs : name => r if !local.sample },
    ) :
    name => merge({ collection = "title", form = "nci_norm", size = "base", seed = 42, ratio = "natural", budget = "dsi" }, local.selected[r.identifier], r)
  }

  # Those that no sample has.
  swept_runs = merge(
    # tab:representation-grouping-seeds
    product({ collection = keys(local.collections), form = keys(local.forms), size = ["tiny"], identifier = keys(local.swept), seed = var.seeds }),
    { for k, v in product({ identifier = keys(local.swept), ratio = var.ratios }) : local.ratio_runs[k] => v },
    { for k, v in product({ identifier = keys(local.swept), hyper = keys(local.hyper) }) : local.hyper_runs[k] => merge(v, local.hyper[v.hyper]) },
    { for b in keys(local.budgets) : local.budget_runs[b] => { identifier = "naive", budget = b } },
  )

  # Those that are also decoded along the trie: tab:decoding-by-model-scale and fig:budget-decoding.
  trie_runs = {
    for name in setunion([for v in setproduct(local.trained, local.beam_found) : "title/nci_norm/${v[0]}/${v[1]}/42"], [for b in local.made_budgets : local.budget_runs[b]]) :
    name => local.runs[name]
  }
}

locals {
  ids = {
    for name, r in local.runs :
    name => local.identifier_types[r.identifier].steps[join("/", [for a in local.identifier_types[r.identifier].by : r[a]])].ids
  }
}

step "train" "dsi" {
  for_each       = local.runs
  model          = local.t5[each.value.size]
  ids            = local.ids[each.key]
  corpus         = step.serialize.nq["${each.value.collection}/${each.value.form}"].corpus
  queries        = step.dedup.nq[each.value.collection].queries
  tokenizer      = step.download.t5_tokenizer.files
  max_input      = local.max_input[each.value.max_input]
  learning_rate  = local.learning_rate[each.value.learning_rate]
  warmup         = local.warmup[each.value.warmup]
  ratio          = each.value.ratio
  repeats        = each.value.ratio == "1:1" ? local.reading.repeats : null
  seed           = each.value.seed
  steps          = local.training.steps
  batch          = local.training.batch
  evaluate_every = local.training.evaluate_every
  precision      = local.training.precision
  select         = local.select
  validity       = local.identifier_types[each.value.identifier].one_token ? null : local.reading.validity # evaluate takes it from the model
  resources { queue = local.queue }

  check "every document is indexed" {
    counts = "indexing_examples"
    equals = "documents"
    of     = "ids"
  }
  check "every training query asks for a document" {
    counts = "retrieval_examples"
    equals = "counts:records.train"
    of     = "queries"
  }
}

# "We use unconstrained beam search with width 40 for multi-token identifiers, followed by a filtering step." A report has
# both rankings, raw and post-filtered, by tokens and by text.
step "evaluate" "dsi" {
  for_each  = local.runs
  model     = step.train.dsi[each.key].model
  ids       = local.ids[each.key]
  queries   = step.dedup.nq[each.value.collection].queries
  tokenizer = step.download.t5_tokenizer.files
  beams     = 40
  resources { queue = local.queue }

  check "every development query is asked" {
    counts = "queries"
    equals = "counts:records.dev"
    of     = "queries"
  }
}

step "evaluate" "trie" {
  for_each  = local.trie_runs
  model     = step.train.dsi[each.key].model
  ids       = local.ids[each.key]
  queries   = step.dedup.nq[each.value.collection].queries
  tokenizer = step.download.t5_tokenizer.files
  beams     = 40
  decoding  = "constrained"
  resources { queue = local.queue }

  check "every development query is asked" {
    counts = "queries"
    equals = "counts:records.dev"
    of     = "queries"
  }
}

# The models of tab:published-dsi-nq as folders that others can ask by transformers alone: redsi export --hub.
step "export_model" "dsi" {
  for_each  = { for v in setproduct(local.sample ? [] : local.variants, keys(local.swept)) : "${v[0].name}/base/${v[1]}" => merge(v[0], { identifier = v[1], run = "${v[0].name}/base/${v[1]}/42" }) }
  model     = step.train.dsi[each.value.run].model
  ids       = local.ids[each.value.run]
  tokenizer = step.download.t5_tokenizer.files
  documents = step.dedup.nq[each.value.collection].documents
  reports   = [step.evaluate.dsi[each.value.run].report]
  labels    = ["NQ320K-${local.collections[each.value.collection]}, development queries"]
  name      = "ReDSI T5-Base, ${local.identifiers[each.value.identifier]} identifiers, NQ320K-${local.collections[each.value.collection]}/${local.forms[each.value.form]}"
  base      = local.real ? local.weights.base.repository : ""
  language  = "en"
  settings = [
    for name, value in merge(local.runs[each.value.run], local.training, { reading = var.reading, scale = local.scale }) : "${name}=${value}"
  ]
  command = "redsi run -t 'step.export_model.dsi[\"${each.key}\"]' --var scale=${local.scale} --var reading=${var.reading}"
}
