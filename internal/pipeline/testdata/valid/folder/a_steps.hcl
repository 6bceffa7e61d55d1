# A folder is one pipeline: its files see each other, in whatever order.
step "extract" "a" {
  shards = [for f in local.files : step.download.shard[f].file]
}
