# --- Baselines -----------------------------------------------------------------------------------

# No part of the paper: what else answers the same development queries over the same texts. BM25 with Lucene's analyzer and
# Anserini's k1 and b, alone and with every document's training queries behind its text, which is all that the trained models
# have seen; and the encoder of the semantic identifiers as it is, not trained for retrieval, by cosine.
locals {
  baselines = {
    bm25         = "BM25"
    bm25_queries = "BM25, documents with their training queries"
    dense        = local.real ? "BERT of the semantic identifiers, cosine" : "Hashed words, cosine"
  }
}

step "bm25" "nq" {
  for_each = product({ collection = keys(local.collections), texts = ["bm25", "bm25_queries"] })
  corpus   = step.serialize.nq["${each.value.collection}/html_norm"].corpus
  queries  = step.dedup.nq[each.value.collection].queries
  expand   = each.value.texts == "bm25_queries" ? [step.dedup.nq[each.value.collection].queries] : []
  depth    = 100

  check "every document is ranked" {
    counts = "documents"
    equals = "documents"
    of     = "corpus"
  }
}

step "embed" "queries" {
  for_each  = local.real ? local.collections : {}
  queries   = step.dedup.nq[each.key].queries
  model     = step.download.bert["google/bert_uncased_L-8_H-512_A-8"].files
  tokenizer = step.download.bert_tokenizer.files
}

step "embed_hashing" "queries" {
  for_each = local.real ? {} : local.collections
  queries  = step.dedup.nq[each.key].queries
}

step "dense" "nq" {
  for_each         = local.collections
  embeddings       = local.real ? step.embed.nq["${each.key}/html_norm"].embeddings : step.embed_hashing.nq["${each.key}/html_norm"].embeddings
  query_embeddings = local.real ? step.embed.queries[each.key].embeddings : step.embed_hashing.queries[each.key].embeddings
  queries          = step.dedup.nq[each.key].queries
  similarity       = "cosine"
  depth            = 100
}

step "score" "baselines" {
  for_each = merge(step.bm25.nq, { for c, s in step.dense.nq : "${c}/dense" => s })
  run      = each.value.run
  qrels    = each.value.qrels
  measures = ["Hits@1", "Hits@10", "MRR@10"]
}

table "baselines" {
  caption = "Development queries without a trained model: documents are NQ320K-Title/HtmlNorm and NQ320K-PageID/HtmlNorm; all values are percentages. Not in the paper."
  scale   = local.scale
  stubs   = ["Ranked by"]
  columns = [
    for v in setproduct(["title", "page_id"], keys(local.metrics)) : {
      id       = join("_", v)
      title    = local.metrics[v[1]]
      groups   = ["<b>NQ320K-${local.collections[v[0]]}</b>"]
      from     = v[0]
      field    = "percent.${v[1]}"
      format   = "fixed"
      decimals = 1
      best     = "max"
    }
  ]
  rows = [
    for id, name in local.baselines :
    { id = id, titles = [name], values = { for c in keys(local.collections) : c => step.score.baselines["${c}/${id}"].report } }
  ]
}
