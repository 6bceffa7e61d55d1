# Nextflow's basic pipeline (nextflow-io/nextflow, docs: splitSequences and reverse): a file of
# sequences is cut into pieces, as many as there are, each piece is reversed, and all are
# printed together. A sequence that changes makes one piece run again, and what gathers them.

step "download" "sample" {
  urls = ["sample.fa"]
}

step "command" "split" {
  script  = "awk '/^>/ { f = \"out/seq/\" substr($1, 2) } f { print > f }' in/sample/sample.fa"
  inputs  = { sample = step.download.sample.files }
  outputs = ["seq/"]
}

step "command" "reverse" {
  for_each = files(step.command.split.out, "seq/*")
  argv     = ["rev", "in/piece"]
  inputs   = { piece = each.file }
}

step "command" "view" {
  script = "cat in/reversed/*"
  inputs = { for name, piece in step.command.reverse : "reversed/${name}" => piece.stdout }
}
