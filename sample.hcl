# --- What a sample can say -----------------------------------------------------------------------

# At scale sample counts cannot be the paper's. Its shares can be estimated or bounded, and its directions judged where a
# paired test over queries tells them. docs/expectations.md, "What a sample can say", has the method. At scale toy the first
# table shows its form: the generated corpus is no part of Natural Questions, so nothing is compared there.

locals {
  all_here = "All records are here, and the tables of the paper have all numbers."

  # What the paper prints, as it prints it; of counts their ratio.
  prints = {
    for name in ["dedup_counts", "substitution_totals", "document_text_construction", "grouping_effects", "page_id_resolution", "revision_texts"] :
    name => { for e in csvdecode(file("assets/paper/${name}.csv")) : "${e.row}.${e.column}" => e.value }
  }
  printed_shares = merge(
    {
      substituted      = local.prints.substitution_totals["percent.n"]
      unresolved       = "${local.prints.page_id_resolution["nq.fallback"]}/${local.prints.dedup_counts["records.union"]}"
      affected_train   = local.prints.grouping_effects["affected_train.n"]
      affected_dev     = local.prints.grouping_effects["affected_dev.n"]
      coverage_title   = local.prints.grouping_effects["coverage_title.n"]
      coverage_page_id = local.prints.grouping_effects["coverage_page_id.n"]
      differ           = local.prints.document_text_construction["differ.n"]
      unknown_a        = local.prints.document_text_construction["unknown_nci.n"]
      unknown_b        = local.prints.document_text_construction["unknown_html.n"]
      texts            = "${local.prints.revision_texts["texts.n"]}/${local.prints.revision_texts["revisions.n"]}"
      documents        = "${local.prints.dedup_counts["title.union"]}/${local.prints.dedup_counts["records.union"]}"
    },
    {
      for v in setproduct(["train", "dev"], ["text4k", "url", "title", "page_id"]) :
      "documents_${v[0]}_${v[1]}" => "${local.prints.dedup_counts["${v[1]}.${v[0]}"]}/${local.prints.dedup_counts["records.${v[0]}"]}"
    },
  )
}

step "shares" "sample" {
  when         = !local.whole
  otherwise    = local.all_here
  train        = step.extract.train.headers
  dev          = step.extract.dev.headers
  records      = step.extract.dev.records
  pages        = local.pages
  tokenizer    = step.download.bert_tokenizer.files
  a            = step.serialize.nq["title/nci_norm"].corpus
  b            = step.serialize.nq["title/html_norm"].corpus
  t5_tokenizer = step.download.t5_tokenizer.files
  variation    = step.revision_variation.nq.report
  fractions = {
    train = local.real ? min(1, length(local.sources.train) / 50) : 0.02
    dev   = local.real ? min(1, length(local.sources.dev) / 5) : 1
  }
  paper = local.real && local.original ? local.printed_shares : {}
}

locals {
  share_rows = [
    { section = "Tokens, records and documents", rows = [
      ["substituted", "Tokens of the development split that differ from their HTML"],
      ["unresolved", "Records whose revision has no PageID"],
      ["differ", "Documents whose first 32 tokens differ between <sc>NciNorm</sc> and <sc>HtmlNorm</sc>"],
      ["unknown_a", "Documents with <tt><unk></tt> in the first 32 tokens of <sc>NciNorm</sc>"],
      ["unknown_b", "Documents with <tt><unk></tt> in the first 32 tokens of <sc>HtmlNorm</sc>"],
    ] },
    { section = "Title grouping", rows = [
      ["affected_train", "Training queries of fragmented pages or colliding titles"],
      ["affected_dev", "The same of development queries"],
      ["coverage_title", "Supervision coverage under <sc>Title</sc>"],
      ["coverage_page_id", "Supervision coverage under <sc>PageID</sc>"],
      ["texts", "Texts to 100 revisions"],
    ] },
    { section = "Documents to 100 records", rows = concat(
      [["documents", "<sc>Title</sc>, both splits"]],
      [
        for v in setproduct(["train", "dev"], ["text4k", "url", "title", "page_id"]) :
        ["documents_${v[0]}_${v[1]}", "<sc>${local.operators[v[1]]}</sc>, ${v[0] == "dev" ? "development" : "training"} split"]
      ],
    ) },
  ]
}

table "sample_shares" {
  when      = !local.whole
  otherwise = local.all_here
  paper     = "sec:construction-results"
  caption   = "${local.real ? "" : "A generated corpus, which is no part of Natural Questions. "}What the records that were read say of shares that the paper prints, in percent. Each interval has a confidence of 95% by itself: about one in 20 misses by chance. A share whose records are all here has no interval. One that grows or falls with the number of records has one limit, and the paper's share lies beyond it."
  scale     = local.scale
  stubs     = ["Share"]
  columns = concat(
    [for c in [["paper", "Paper"], ["value", "Here"], ["low", "Low"], ["high", "High"]] : { id = c[0], title = c[1], format = "fixed", decimals = 2 }],
    [
      { id = "clusters", title = "Clusters", format = "integer" },
      { id = "how", title = "How", format = "text" },
      { id = "verdict", title = "The paper's is", format = "text" },
    ],
  )
  rows = flatten([
    for i, g in local.share_rows : [
      [for mark in [{ rule = true }] : mark if i > 0],
      { section = "<i>${g.section}</i>" },
      [for r in g.rows : { id = r[0], titles = [r[1]], value = step.shares.sample.report, at = "shares.${r[0]}" }],
    ]
  ])
}

# Directions that the paper states of T5-Efficient-Tiny, or of sizes of which it is one, or, as it is marked, of T5-Base.
locals {
  short_runs = { for v in setproduct(local.variants, keys(local.swept)) : "${v[0].name}/${v[1]}" => "${v[0].name}/tiny/${v[1]}/42" }
  short_scores = merge(
    { for name, run in local.short_runs : name => step.evaluate.dsi[run] },
    { for id in ["naive", "semantic"] : "trie/${id}" => step.evaluate.trie["title/nci_norm/tiny/${id}/42"] },
  )
  variant_titles = { for v in local.variants : v.name => "<sc>${local.collections[v.collection]}</sc>/<sc>${local.forms[v.form]}</sc>" }

  directions = [
    {
      text = "“atomic identifiers outperform naive and semantic identifiers at every evaluated model scale”, MRR@10"
      pairs = [
        for v in setproduct(local.variants, ["naive", "semantic"]) : {
          id = "atomic-${v[1]}/${v[0].name}", title = "Atomic − ${local.swept[v[1]]}, ${local.variant_titles[v[0].name]}", a = "${v[0].name}/atomic", b = "${v[0].name}/${v[1]}", measure = "MRR@10", claim = "above", margin = 0
        }
      ]
    },
    {
      text = "“for this smallest model the MRR@10 is higher for semantic identifiers”"
      pairs = [
        { id = "semantic-naive", title = "Semantic − Naive, ${local.variant_titles["title/nci_norm"]}", a = "title/nci_norm/semantic", b = "title/nci_norm/naive", measure = "MRR@10", claim = "above", margin = 0 }
      ]
    },
    {
      text = "“semantic identifiers produce fewer invalid hypotheses than naive identifiers at every scale”, Invalid@40"
      pairs = [
        for v in local.variants : {
          id = "invalid/${v.name}", title = "Semantic − Naive, ${local.variant_titles[v.name]}", a = "${v.name}/semantic", b = "${v.name}/naive", measure = "Invalid@40", claim = "below", margin = 0
        }
      ]
    },
    {
      text = "“Constrained decoding provides no consistent improvement over simple post-filtering”, MRR@10 within 0.25"
      pairs = [
        for id in ["naive", "semantic"] : {
          id = "trie/${id}", title = "Trie − post-filtered, ${local.swept[id]}", a = "trie/${id}", b = "title/nci_norm/${id}", measure = "MRR@10", claim = "near", margin = 0.25
        }
      ]
    },
    {
      text = "“When deduplicating by Pageid instead of Title as in NCI, we obtain higher Hits@1”, of T5-Base"
      pairs = [
        for v in setproduct(keys(local.forms), keys(local.swept)) : {
          id = "page_id/${v[0]}/${v[1]}", title = "PageID − Title, <sc>${local.forms[v[0]]}</sc>, ${local.swept[v[1]]}", a = "page_id/${v[0]}/${v[1]}", b = "title/${v[0]}/${v[1]}", measure = "Hits@1", claim = "above", margin = 0
        }
      ]
    },
    {
      text = "“the two serialization methods yield small differences”, of T5-Base, Hits@1 within 0.75"
      pairs = [
        for v in setproduct(keys(local.collections), keys(local.swept)) : {
          id = "form/${v[0]}/${v[1]}", title = "<sc>HtmlNorm</sc> − <sc>NciNorm</sc>, <sc>${local.collections[v[0]]}</sc>, ${local.swept[v[1]]}", a = "${v[0]}/html_norm/${v[1]}", b = "${v[0]}/nci_norm/${v[1]}", measure = "Hits@1", claim = "near", margin = 0.75
        }
      ]
    },
  ]
  without_directions = local.real ? "All trainings are here, and claims about the paper's tables are judged." : "Models of random weights on a generated corpus say nothing of the paper's directions."
}

step "score" "sample" {
  for_each = local.sample ? local.short_scores : {}
  run      = each.value.run
  qrels    = each.value.qrels
  measures = ["Hits@1", "MRR@10", "Invalid@40"]
}

step "compare" "sample" {
  when      = local.sample
  otherwise = local.without_directions
  systems   = { for name in keys(local.short_scores) : name => step.score.sample[name].queries }
  measures  = ["Hits@1", "MRR@10", "Invalid@40"]
  claims = merge([
    for d in local.directions : {
      for p in d.pairs : p.id => { a = p.a, b = p.b, measure = p.measure, claim = p.claim, margin = p.margin }
    }
  ]...)
}

table "sample_directions" {
  when      = local.sample
  otherwise = local.without_directions
  paper     = "sec:identifier-analysis"
  caption   = "Directions that the paper states, of trainings with ${local.training.steps} updates and one seed. Differences in percentage points, with 95% intervals over development queries by paired t-tests. p has Holm's correction for all rows; below 0.05 there is a verdict. The intervals include neither how a training varies with its seed nor what more updates change: a direction that is reversed here is no evidence against the paper's."
  scale     = local.scale
  stubs     = ["Difference"]
  columns = concat(
    [for c in [["a", "First"], ["b", "Second"]] : { id = c[0], title = c[1], format = "fixed", decimals = 1 }],
    [for c in [["difference", "Difference"], ["low", "Low"], ["high", "High"]] : { id = c[0], title = c[1], format = "signed", decimals = 2 }],
    [
      { id = "p_corrected", title = "p", format = "fixed", decimals = 3 },
      { id = "verdict", title = "Here, the direction", format = "text" },
    ],
  )
  rows = flatten([
    for i, d in local.directions : [
      [for mark in [{ rule = true }] : mark if i > 0],
      { section = d.text },
      [for p in d.pairs : { id = p.id, titles = [p.title], value = step.compare.sample.report, at = "claims.${p.id}" }],
    ]
  ])
}
