# --- Appendices ----------------------------------------------------------------------------------

table "indexing_retrieval_ratio" {
  when      = !local.sample
  otherwise = local.without.sweep
  paper     = "tab:indexing-retrieval-ratio"
  caption   = "Sensitivity to the indexing-to-retrieval ratio under <sc>NQ320K-Title/NciNorm</sc>. Retrieval metrics and Invalid@40 are development percentages at the checkpoint selected by MRR@10. The natural ratio uses each indexed document and labeled query once per repetition of the training data. Invalidity is not applicable to atomic identifiers and is denoted by –. Bold marks the best retrieval result for each identifier type and metric."
  wide      = true
  scale     = local.scale
  stubs     = ["Ratio"]
  columns = flatten([
    for id, title in local.swept : [
      [
        for metric, name in local.metrics :
        { id = "${id}_${metric}", title = name, groups = ["<b>${title}</b>"], from = id, field = "percent.post_filtered.${metric}", format = "fixed", decimals = 2, best = "max" }
      ],
      { id = "${id}_invalid_40", title = "Inv.", groups = ["<b>${title}</b>"], from = id, field = "percent.invalid_40", format = "fixed", decimals = 1 },
    ]
  ])
  rows = [
    for ratio in var.ratios : {
      id     = ratio
      titles = [ratio != "natural" ? ratio : local.full ? "Natural (≈1:2.8)" : "Natural"]
      values = { for id in keys(local.swept) : id => step.evaluate.dsi[local.ratio_runs["${id}/${ratio}"]].report }
    }
  ]
  expect = local.expected["table.indexing_retrieval_ratio"]
}

locals {
  sweep = {
    for id in keys(local.swept) : id => [
      for h in setproduct(["32", "64"], ["1e-3", "5e-4"], ["0", "10K", "100K"]) : merge(local.hyper[join("/", h)], {
        name  = "${id}/${join("/", h)}"
        run   = local.hyper_runs["${id}/${join("/", h)}"]
        style = local.hyper[join("/", h)] == local.selected[id] ? "<b>%v</b>" : "%v"
        bold  = local.hyper[join("/", h)] == local.selected[id] ? ["mrr_10"] : null
      })
    ]
  }
}

table "hparams_controlled_full" {
  when      = !local.sample
  otherwise = local.without.sweep
  paper     = "tab:hparams-controlled-full"
  caption   = "Complete batch-${local.training.batch} hyperparameter sweep on <sc>NQ320K-Title/NciNorm</sc>. Metrics are reported as percentages; M@10 denotes MRR@10. Each row reports the checkpoint selected by development MRR@10. Bold hyperparameters identify the configurations retained for the experiments. Dashes indicate that Invalid@40 is not applicable to atomic identifiers, which are valid by construction."
  scale     = local.scale
  stubs     = ["ID"]
  columns = concat(
    [for c in [["max_input", "ℓ"], ["learning_rate", "LR"], ["warmup", "WU"]] : { id = c[0], title = c[1], format = "text", align = "r" }],
    [
      for id, title in { hits_1 = "H@1", hits_10 = "H@10", mrr_10 = "M@10" } :
      { id = id, title = title, field = "percent.post_filtered.${id}", format = "fixed", decimals = 1 }
    ],
    [{ id = "invalid_40", title = "Inv@40", field = "percent.invalid_40", format = "fixed", decimals = 1 }],
  )
  rows = flatten([
    for id, title in local.swept : [
      [for mark in [{ space = true }] : mark if id != keys(local.swept)[0]],
      { section = "<i>${title}</i>" },
      [
        for h in local.sweep[id] : {
          id     = h.name
          titles = [format(h.style, title)]
          texts = {
            max_input     = format(h.style, local.max_input[h.max_input])
            learning_rate = format(h.style, local.full ? replace(h.learning_rate, "-", "−") : local.learning_rate[h.learning_rate])
            warmup        = format(h.style, local.warmup[h.warmup] < 1000 ? local.warmup[h.warmup] : "${local.warmup[h.warmup] / 1000}K")
          }
          value = step.evaluate.dsi[h.run].report
          bold  = h.bold
        }
      ],
    ]
  ])
  expect = local.expected["table.hparams_controlled_full"]
}

# What the paper used for the row of tab:published-dsi-nq that is closest to another's.
locals {
  closest = local.runs[local.reference.atomic]
  settings = [
    ["collection", "Collection", "NCI-derived, ∼109K", "<sc>${local.collections[local.closest.collection]}/${local.forms[local.closest.form]}</sc>"],
    ["backbone", "Backbone", "T5 1.1-Base", local.real ? "T5 1.0-${local.sizes[local.closest.size]}" : "T5 of random weights"],
    ["supervision", "Supervision", "FirstP + labeled queries", "FirstP + labeled queries"],
    ["max_input", "Input length", "64", "${local.max_input[local.selected.atomic.max_input]} atomic; ${local.max_input[local.selected.naive.max_input]} sequential"],
    ["batch", "Effective batch size", "512", local.training.batch],
    ["packing", "Sequence packing", "Not reported", "Disabled"],
    ["select", "Checkpoint selection", "Not reported", "Development ${local.select}"],
    ["invalid", "Invalid outputs", "Not reported", "Post-filtered"],
  ]
}

table "pradeep_settings" {
  paper   = "tab:pradeep-settings"
  caption = "Reported and implemented settings for the closest comparison with Pradeep et al. (2023). Differences and unreported settings prevent an exact reproduction."
  scale   = local.scale
  stubs   = ["Setting"]
  columns = [for id, title in { pradeep = "Pradeep et al. (2023)", redsi = "<sc>ReDSI</sc>" } : { id = id, title = title, format = "text" }]
  rows    = [for s in local.settings : { id = s[0], titles = [s[1]], texts = { pradeep = s[2], redsi = s[3] } }]
}

table "representation_grouping_seeds" {
  when      = !local.sample
  otherwise = local.without.sweep
  paper     = "tab:representation-grouping-seeds"
  caption   = "T5-Efficient-Tiny MRR@10 across five seeds for each identifier, grouping rule, and document representation. Values are mean percentages with sample standard deviations."
  scale     = local.scale
  stubs     = ["Identifier"]
  columns = [
    for form in ["nci_norm", "html_norm"] :
    { id = form, title = "<sc>${local.forms[form]}</sc>", from = form, field = "percent.post_filtered.mrr_10", format = "fixed", decimals = 2, std = true }
  ]
  rows = flatten([
    for i, collection in ["title", "page_id"] : [
      [for mark in [{ rule = true }] : mark if i > 0],
      { section = "<sc>${local.collections[collection]}</sc>", center = true },
      { rule = true },
      [
        for id, title in local.swept : {
          id     = "${collection}/${id}"
          titles = [title]
          values = { for form in keys(local.forms) : form => [for seed in var.seeds : step.evaluate.dsi["${collection}/${form}/tiny/${id}/${seed}"].report] }
        }
      ],
    ]
  ])
  expect = local.expected["table.representation_grouping_seeds"]
}

locals {
  # The factors whose effects tab:representation-grouping-effects reports, each over the levels of the other.
  factors = {
    form       = { from = "nci_norm", to = "html_norm", other = "collection", title = "<sc>HtmlNorm</sc> − <sc>NciNorm</sc>" }
    collection = { from = "title", to = "page_id", other = "form", title = "<sc>PageID</sc> − <sc>Title</sc>" }
  }
}

step "effects" "nq" {
  for_each = { for factor, f in local.factors : factor => f if !local.sample }
  from     = each.value.from
  to       = each.value.to
  field    = "percent.post_filtered.mrr_10"
  runs = [
    for name, r in product({ collection = keys(local.collections), form = keys(local.forms), size = ["tiny"], identifier = keys(local.swept), seed = var.seeds }) :
    { group = r.identifier, level = r[each.key], other = r[each.value.other], seed = r.seed, report = step.evaluate.dsi[name].report }
  ]
}

locals {
  effects = { for factor, s in step.effects.nq : factor => s.report }
}

table "representation_grouping_effects" {
  when      = !local.sample
  otherwise = local.without.sweep
  paper     = "tab:representation-grouping-effects"
  caption   = "Seed-paired effects of document representation and grouping for T5-Efficient-Tiny. Values are changes in MRR@10 percentage points, reported as mean ± sample standard deviation across five seeds. Identifier-level effects are averaged over the other construction factor; the global result macro-averages identifier types within each seed."
  scale     = local.scale
  stubs     = ["Identifier"]
  columns   = [for factor in ["form", "collection"] : { id = factor, title = local.factors[factor].title, from = factor, format = "signed", decimals = 2, std = true }]
  rows = concat(
    [
      for id, title in local.swept :
      { id = id, titles = [title], values = local.effects, fields = { for factor in keys(local.factors) : factor => "groups.${id}" } }
    ],
    [
      { rule = true },
      { id = "global", titles = ["Global"], values = local.effects, fields = { for factor in keys(local.factors) : factor => "global" }, bold = keys(local.factors) },
    ],
  )
  expect = local.expected["table.representation_grouping_effects"]
}

table "invalid_40" {
  paper   = "tab:invalid-40"
  caption = "Invalid@40 for sequential identifiers across NQ320K grouping rules, document representations, and model scales. Values are percentages measured on the unconstrained 40-best beam before post-filtering. Atomic identifiers are omitted because they are valid by construction."
  wide    = true
  scale   = local.scale
  stubs   = ["Model"]
  columns = [
    for v in setproduct(local.variants, local.beam_found) : {
      id       = "${v[0].name}/${v[1]}"
      title    = local.identifiers[v[1]]
      groups   = ["<b><sc>${local.collections[v[0].collection]}</sc></b>", "<sc>${local.forms[v[0].form]}</sc>"]
      from     = "${v[0].name}/${v[1]}"
      field    = "percent.invalid_40"
      format   = "fixed"
      decimals = 1
    }
  ]
  rows = [
    for size, title in local.sizes : {
      id     = size
      titles = ["T5-${title}"]
      values = { for v in setproduct(local.variants, local.beam_found) : "${v[0].name}/${v[1]}" => step.evaluate.dsi["${v[0].name}/${size}/${v[1]}/42"].report if contains(local.trained, size) }
    }
  ]
  expect = local.expected["table.invalid_40"]
}

locals {
  # What the budgets are of |D|; DSI's 320K are 2.916 of the paper's 109,739 documents.
  budget_ratios = merge(local.budgets, { dsi = local.whole ? 2.916 : local.budgets.dsi })
  decodings = {
    raw           = { step = step.evaluate.dsi, field = "percent.raw.mrr_10", title = "Unconstrained", color = "naive_light", line = "dotted" }
    post_filtered = { step = step.evaluate.dsi, field = "percent.post_filtered.mrr_10", title = "Post-filtered", color = "naive_mid", line = "solid" }
    trie          = { step = step.evaluate.trie, field = "percent.post_filtered.mrr_10", title = "Trie-constrained", color = "naive_dark", line = "dashed" }
    invalid_40    = { step = step.evaluate.dsi, field = "percent.invalid_40", title = "Invalid@40", color = "black", line = "dash-dot" }
  }
}

figure "budget_decoding" {
  when      = !local.sample
  otherwise = local.without.sweep
  paper     = "fig:budget-decoding"
  caption   = "MRR@10 and Invalid@40 for naive identifiers across identifier-space budgets on <sc>NQ320K-Title</sc>/<sc>NciNorm</sc>. Dotted, solid, and dashed lines denote raw, post-filtered, and trie-constrained decoding, respectively; the dash-dotted line denotes Invalid@40. DSI corresponds to b = 320K."
  scale     = local.scale
  x = {
    title = "Identifier-space ratio b/|D|"
    log2  = true
    min   = 0.9
    max   = 1.125 * max(var.budgets...)
    ticks = [for b, ratio in local.budget_ratios : { at = ratio, label = b == "dsi" ? "\nDSI" : "${ratio}×" }]
  }
  y = { title = "MRR@10", scale = 0.01, decimals = 4, min = local.full ? 0.57 : null, max = local.full ? 0.61 : null }
  y2 = {
    title    = "Invalid@40 (%)"
    decimals = 2
    min      = 0
    max      = local.full ? 60 : 100
    ticks    = [for p in range(0, 101, local.full ? 10 : 20) : { at = p, label = tostring(p) }]
  }
  series = [
    for id in ["raw", "post_filtered", "trie", "invalid_40"] : {
      id    = id
      title = local.decodings[id].title
      color = local.decodings[id].color
      line  = local.decodings[id].line
      axis  = id == "invalid_40" ? "y2" : "y"
      points = [
        for b in local.budgets_by_b : {
          id = b
          x  = { number = local.budget_ratios[b] }
          y  = { value = local.decodings[id].step[local.budget_runs[b]].report, field = local.decodings[id].field }
        }
      ]
    }
  ]
  expect = local.expected["figure.budget_decoding"]
}

# "Invalid@40 increases from 8.8% at 1x to 53.8% at 32x. Trie-constrained decoding has mixed effects at larger budgets,
# changing MRR@10 by between -0.97 and +0.23 percentage points."
table "budget_effects" {
  when      = !local.sample
  otherwise = local.without.sweep
  paper     = "app:decoding-budget"
  caption   = "Decoding of naive identifiers by identifier-space budget (appendix “Identifier-Space Budget Sensitivity”)."
  scale     = local.scale
  stubs     = ["Budget"]
  columns   = concat(local.decoding_columns, [{ id = "invalid_40", title = "Inv@40", from = "unconstrained", field = "percent.invalid_40", format = "fixed", decimals = 1 }])
  rows = [
    for b in local.budgets_by_b :
    { id = b, titles = [b == "dsi" ? "DSI" : "${local.budgets[b]}×"], values = local.decoded[local.budget_runs[b]] }
  ]
  expect = local.expected["table.budget_effects"]
}
