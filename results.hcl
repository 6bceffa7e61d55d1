# --- Results -------------------------------------------------------------------------------------

locals {
  metrics = { hits_1 = "H@1", hits_10 = "H@10", mrr_10 = "MRR@10" }

  # NQ320K's variants, in the order in which tables have them.
  variants = [for v in setproduct(["title", "page_id"], ["nci_norm", "html_norm"]) : { name = join("/", v), collection = v[0], form = v[1] }]

  # Other papers' results, each with its source.
  published = csvdecode(file("assets/paper/published_baselines.csv"))
}

table "published_dsi_nq" {
  paper   = "tab:published-dsi-nq"
  caption = "Hits@1 of published DSI baselines on independently NQ-derived collections for all identifier types. T5 indicates the use of base (B) or large (L) version, with + for v1.1 instead of v1.0 and ∘ for BART. A checkmark indicates that released code contains an implementation of the reported DSI baseline."
  scale   = local.scale
  stubs   = ["Reported by"]
  columns = concat(
    [
      { id = "documents", title = "|D|", from = "documents", field = "documents.union", format = local.whole ? "kilo" : "integer", decimals = local.whole ? 1 : 0 },
      { id = "t5", title = "T5", format = "text", align = "c" },
    ],
    [
      for id in keys(local.swept) :
      { id = id, title = local.identifier_types[id].short, groups = ["Hits@1"], from = id, field = "percent.post_filtered.hits_1", format = "fixed", decimals = 1 }
    ],
    [{ id = "code", title = "</>", format = "text", align = "c" }],
  )
  rows = concat(
    flatten([
      for coverage in ["complete", "partial"] : [
        { section = "<b>${title(coverage)} identifier types coverage</b>" },
        [
          for p in local.published : {
            id      = p.id
            titles  = [p.reported_by]
            texts   = { documents = p.documents, t5 = p.t5, code = p.code == "" ? " " : p.code }
            numbers = { for id in keys(local.swept) : id => tonumber(p[id]) if p[id] != "" }
          } if p.coverage == coverage
        ],
        { rule = true },
      ]
    ]),
    [{ section = "<b>This work: <sc>ReDSI</sc> with different NQ320K variants</b>" }],
    [
      for d in local.variants : {
        id     = d.name
        titles = ["<sc>${local.collections[d.collection]}</sc>/<sc>${local.forms[d.form]}</sc>"]
        values = merge(
          { documents = step.dedup.nq[d.collection].counts },
          { for id in keys(local.swept) : id => step.evaluate.dsi["${d.name}/${local.reference_size}/${id}/42"].report },
        )
        texts = { t5 = local.sample ? local.sizes.tiny : "B", code = "✓" }
      }
    ],
  )
  expect = local.expected["table.published_dsi_nq"]
}

table "indexing_retrieval_ratio_mrr" {
  when      = !local.sample
  otherwise = local.without.sweep
  paper     = "tab:indexing-retrieval-ratio-mrr"
  caption   = "Sensitivity of T5-Base to the indexing-to-retrieval ratio on <sc>NQ320K-Title</sc>/<sc>NciNorm</sc>."
  scale     = local.scale
  stubs     = ["Ratio"]
  columns = [
    for id, title in local.swept :
    { id = id, title = title, groups = ["<b>MRR@10</b>"], from = id, field = "percent.post_filtered.mrr_10", format = "fixed", decimals = 2, best = "max" }
  ]
  rows = [
    for ratio in var.ratios : {
      id     = ratio
      titles = [ratio != "natural" ? ratio : local.full ? "1:2.8 (natural)" : "natural"]
      values = { for id in keys(local.swept) : id => step.evaluate.dsi[local.ratio_runs["${id}/${ratio}"]].report }
    }
  ]
  expect = local.expected["table.indexing_retrieval_ratio_mrr"]
}

# "On average, the natural ratio 1:2.8 works best."
table "ratio_averages" {
  when      = !local.sample
  otherwise = local.without.sweep
  paper     = "sec:experimental-setup"
  caption   = "MRR@10 of T5-Base by the indexing-to-retrieval ratio, mean of the identifier types."
  scale     = local.scale
  stubs     = ["Ratio"]
  columns   = [{ id = "mrr_10", title = "MRR@10", field = "percent.post_filtered.mrr_10", format = "fixed", decimals = 2, best = "max" }]
  rows = [
    for ratio in var.ratios :
    { id = ratio, titles = [ratio], value = [for id in keys(local.swept) : step.evaluate.dsi[local.ratio_runs["${id}/${ratio}"]].report] }
  ]
  expect = try(local.expected["table.ratio_averages"], [])
}

table "nq320k_identifier_comparison" {
  paper   = "tab:nq320k_identifier_comparison"
  caption = "Comparison across document-text constructions, deduplication rules, identifier types, and T5 model scales. Configuration denotes the document-text construction and deduplication rule; all values are percentages. Bold marks the highest MRR@10 among the four reconstruction configurations for each identifier type and model scale."
  wide    = true
  scale   = local.scale
  stubs   = ["Configuration", "Model"]
  columns = [
    for v in setproduct(keys(local.identifiers), keys(local.metrics)) : {
      id       = join("_", v)
      title    = local.metrics[v[1]]
      groups   = ["<b>${local.identifiers[v[0]]}</b>"]
      from     = v[0]
      field    = "percent.post_filtered.${v[1]}"
      format   = "fixed"
      decimals = 1
      best     = v[1] == "mrr_10" ? "max" : ""
    }
  ]
  rows = flatten([
    for i, form in ["nci_norm", "html_norm"] : [
      [for mark in [{ rule = true }] : mark if i > 0],
      [
        for j, collection in ["title", "page_id"] : [
          [for mark in [{ space = true }] : mark if j > 0],
          [
            for size, model in local.sizes : {
              id      = "${collection}/${form}/${size}"
              titles  = ["<sc>NQ320K-${local.collections[collection]}</sc>/<sc>${local.forms[form]}</sc>", model]
              compare = size
              values  = { for id in keys(local.identifiers) : id => step.evaluate.dsi["${collection}/${form}/${size}/${id}/42"].report if contains(local.trained, size) }
            }
          ],
        ]
      ],
    ]
  ])
  expect = local.expected["table.nq320k_identifier_comparison"]
}

# The three cheapest of its models: where to start.
table "smallest_models" {
  paper   = "tab:nq320k_identifier_comparison"
  caption = "T5-Efficient-Tiny on <sc>NQ320K-Title</sc>/<sc>NciNorm</sc>."
  scale   = local.scale
  stubs   = ["Identifier"]
  columns = concat(
    [for metric, name in local.metrics : { id = metric, title = name, field = "percent.post_filtered.${metric}", format = "fixed", decimals = 1 }],
    [
      { id = "invalid_40", title = "Invalid@40", field = "percent.invalid_40", format = "fixed", decimals = 1 },
      { id = "parameters", title = "Parameters", format = "integer" },
    ],
  )
  rows = [for id, title in local.identifiers : { id = id, titles = [title], value = step.evaluate.dsi["title/nci_norm/tiny/${id}/42"].report }]
  expect = concat(
    [
      for v in setproduct(keys(local.swept), keys(local.metrics)) :
      merge({ for e in local.printed.nq320k_identifier_comparison : e.cell => e }["title/nci_norm/tiny.${join("_", v)}"], { cell = join(".", v) })
    ],
    try(local.toy["table.smallest_models"], []),
  )
}

# "Atomic identifiers outperform other types, with the gap widening under model size downscaling."
table "identifier_gaps" {
  paper   = "sec:gr-related-work"
  caption = "MRR@10 of atomic identifiers less that of the others."
  scale   = local.scale
  stubs   = ["Configuration", "Model"]
  columns = concat(
    [for id, title in local.swept : { id = id, title = title, from = id, field = "percent.post_filtered.mrr_10", format = "fixed", decimals = 1 }],
    [for id in ["naive", "semantic"] : { id = "over_${id}", title = "over ${local.swept[id]}", minus = ["atomic", id], format = "signed", decimals = 1 }],
  )
  rows = [
    for v in setproduct(local.variants, keys(local.sizes)) : {
      id     = "${v[0].name}/${v[1]}"
      titles = ["<sc>${local.collections[v[0].collection]}</sc>/<sc>${local.forms[v[0].form]}</sc>", local.sizes[v[1]]]
      values = { for id in keys(local.swept) : id => step.evaluate.dsi["${v[0].name}/${v[1]}/${id}/42"].report if contains(local.trained, v[1]) }
    }
  ]
  expect = try(local.expected["table.identifier_gaps"], [])
}

# "From T5-Base to T5-Efficient-Tiny, atomic MRR@10 decreases by 6.6 points, compared with 13.6 for naive and 12.2 for
# semantic identifiers."
table "downscaling" {
  when      = !local.sample
  otherwise = local.without.sizes
  paper     = "sec:identifier-analysis"
  caption   = "MRR@10 lost from T5-Base to T5-Efficient-Tiny on <sc>NQ320K-Title</sc>/<sc>NciNorm</sc> (section “Identifier Type Robustness under Downscaling”)."
  scale     = local.scale
  stubs     = ["Identifier"]
  columns = concat(
    [for size in ["base", "tiny"] : { id = size, title = "T5-${local.sizes[size]}", from = size, field = "percent.post_filtered.mrr_10", format = "fixed", decimals = 1 }],
    [{ id = "lost", title = "Lost", minus = ["base", "tiny"], format = "fixed", decimals = 1 }],
  )
  rows = [
    for id, title in local.identifiers :
    { id = id, titles = [title], values = { for size in ["base", "tiny"] : size => step.evaluate.dsi["title/nci_norm/${size}/${id}/42"].report } }
  ]
  expect = local.expected["table.downscaling"]
}

# "Atomic identifiers reach their peak MRR@10 after 6.8 hours (~65K updates), whereas naive and semantic identifiers
# continue improving beyond 74.5 hours (~900K updates)." The hours are in fig:model-scaling-and-training.
table "training_updates" {
  when      = !local.sample
  otherwise = local.without.base
  paper     = "sec:identifier-analysis"
  caption   = "Updates of T5-Base on <sc>NQ320K-Title</sc>/<sc>NciNorm</sc> until an evaluation reaches 95% of the best MRR@10, and the best."
  scale     = local.scale
  stubs     = ["Identifier"]
  columns   = [for c in [["steps_to_95_percent", "95% of peak"], ["best_step", "Peak"]] : { id = c[0], title = c[1], format = "integer" }]
  rows      = [for id, title in local.identifiers : { id = id, titles = [title], value = step.train.dsi[local.reference[id]].report }]
  expect    = local.expected["table.training_updates"]
}

# What tab:decoding-by-model-scale and its like at other budgets compare.
locals {
  decoded = {
    for name, r in local.trie_runs : name =>
    { unconstrained = step.evaluate.dsi[name].report, trie = step.evaluate.trie[name].report }
  }
  decoding_columns = [
    { id = "raw", title = "Unc.", from = "unconstrained", field = "percent.raw.mrr_10", format = "fixed", decimals = 2 },
    { id = "post_filtered", title = "Post.", from = "unconstrained", field = "percent.post_filtered.mrr_10", format = "fixed", decimals = 2 },
    { id = "trie", title = "Trie", from = "trie", field = "percent.post_filtered.mrr_10", format = "fixed", decimals = 2 },
    { id = "delta_post", title = "Δ<sub>post</sub>", minus = ["post_filtered", "raw"], format = "signed", decimals = 2 },
    { id = "delta_trie", title = "Δ<sub>trie</sub>", minus = ["trie", "post_filtered"], format = "signed", decimals = 2 },
  ]
}

table "decoding_by_model_scale" {
  paper   = "tab:decoding-by-model-scale"
  caption = "MRR@10 across model scales under unconstrained (<i>Unc.</i>), post-filtered (<i>Post.</i>) and trie-constrained (<i>Trie</i>) decoding on <sc>NQ320K-Title</sc>/<sc>NciNorm</sc>. Δ<sub>post</sub> is post-filtered minus unconstrained MRR@10, and Δ<sub>trie</sub> is trie-constrained minus post-filtered MRR@10."
  scale   = local.scale
  stubs   = ["Identifier", "Model"]
  columns = local.decoding_columns
  rows = flatten([
    for i, id in local.beam_found : [
      [for mark in [{ rule = true }] : mark if i > 0],
      [
        for size, title in local.sizes :
        { id = "${id}/${size}", titles = [local.identifiers[id], "T5-${title}"], values = try(local.decoded["title/nci_norm/${size}/${id}/42"], {}) }
      ],
    ]
  ])
  expect = local.expected["table.decoding_by_model_scale"]
}

# --- Figures of results --------------------------------------------------------------------------

# A size has its marker, an identifier type its colour and line (local.identifier_types). Axes have the paper's range where the run has its scale.
locals {
  markers    = { tiny = "square", small = "triangle", base = "circle" }
  size_names = { tiny = "T5-Efficient-Tiny", small = "T5-Small", base = "T5-Base" }
  size_keys  = [for size in ["tiny", "small", "base"] : { title = local.size_names[size], marker = local.markers[size] }]
}

# The paper's sizes are nominal: 16, 60 and 220 million parameters stand for 15.6, 60.5 and 222.9.
figure "model_scaling" {
  when      = !local.sample
  otherwise = local.without.sizes
  paper     = "fig:model-scaling"
  caption   = "MRR@10 versus number of parameters, including extra document token parameters for atomic identifiers. Dotted, solid, and dashed lines denote atomic, naive, and semantic identifiers, respectively. Results are reported for the <sc>NQ320K-Title</sc>/<sc>NciNorm</sc> dataset reconstruction."
  scale     = local.scale
  x = {
    title    = "Total trainable parameters (M)"
    scale    = 0.000001
    decimals = 1
    min      = 0
    max      = local.full ? 320 : null
    ticks    = local.full ? [for m in range(0, 301, 50) : { at = m, label = tostring(m) }] : null
  }
  y    = { title = "MRR@10", decimals = 1, min = local.full ? 45 : null, max = local.full ? 70 : null }
  keys = local.size_keys
  series = [
    for id, t in local.identifier_types : {
      id    = id
      title = t.title
      color = t.color
      line  = t.line
      points = [
        for size in ["tiny", "small", "base"] : {
          id     = size
          marker = local.markers[size]
          x      = { value = step.evaluate.dsi["title/nci_norm/${size}/${id}/42"].report, field = "parameters" }
          y      = { value = step.evaluate.dsi["title/nci_norm/${size}/${id}/42"].report, field = "percent.post_filtered.mrr_10" }
        }
      ]
    }
  ]
  expect = local.expected["figure.model_scaling"]
}

# Hours depend on the device (the paper's: one V100 of 16 GB); MRR@10 does not.
figure "model_scaling_and_training" {
  when      = !local.sample
  otherwise = local.without.base
  paper     = "fig:model-scaling-and-training"
  caption   = "MRR@10 on <sc>NQ320K-Title</sc>/<sc>NciNorm</sc> versus wall-clock time for T5-Base. Hollow markers show the first checkpoint reaching 95% of peak MRR@10, and filled markers show the final selected checkpoint. Dotted, solid, and dashed lines denote atomic, naive, and semantic identifiers."
  scale     = local.scale
  x = {
    title    = local.full ? "Active wall-clock time (hours)" : "Active wall-clock time (seconds)"
    scale    = local.full ? 1 / 3600 : 1
    decimals = 1
    min      = 0
    max      = local.full ? 85 : null
  }
  y    = { title = "MRR@10", scale = 100, decimals = 2, min = local.full ? 55 : null, max = local.full ? 70 : null }
  keys = [{ title = "95% of peak", marker = "circle", hollow = true }, { title = "selected checkpoint", marker = "circle" }]
  series = [
    for id, t in local.identifier_types : {
      id     = id
      title  = t.title
      color  = t.color
      line   = t.line
      marker = "circle"
      points = [
        for p in [["reach", "seconds_to_95_percent", "mrr_at_95_percent"], ["best", "seconds_to_best", "metrics.${local.select}"]] : {
          id     = p[0]
          hollow = p[0] == "reach"
          x      = { value = step.train.dsi[local.reference[id]].report, field = p[1] }
          y      = { value = step.train.dsi[local.reference[id]].report, field = p[2] }
        }
      ]
    }
  ]
  expect = local.expected["figure.model_scaling_and_training"]
}

figure "identifier_validity" {
  when      = !local.sample
  otherwise = local.without.sizes
  paper     = "fig:identifier-validity"
  caption   = "Post-filtered MRR@10 and Invalid@40 across model scales on <sc>NQ320K-Title</sc>/<sc>NciNorm</sc>. Solid and dashed lines denote naive and semantic identifiers, while square, triangle, and circle markers denote T5-Efficient-Tiny, T5-Small, and T5-Base."
  scale     = local.scale
  x         = { title = "Beam invalidity@40 (%)", decimals = 1, min = local.full ? 5 : null, max = local.full ? 40 : null }
  y         = { title = "MRR@10", decimals = 1, min = local.full ? 45 : null, max = local.full ? 62 : null }
  keys      = local.size_keys
  series = [
    for id in local.beam_found : {
      id    = id
      title = local.identifiers[id]
      color = local.identifier_types[id].color
      line  = local.identifier_types[id].line
      points = [
        for size in ["base", "small", "tiny"] : {
          id     = size
          marker = local.markers[size]
          x      = { value = step.evaluate.dsi["title/nci_norm/${size}/${id}/42"].report, field = "percent.invalid_40" }
          y      = { value = step.evaluate.dsi["title/nci_norm/${size}/${id}/42"].report, field = "percent.post_filtered.mrr_10" }
        }
      ]
    }
  ]
  expect = local.expected["figure.identifier_validity"]
}
