variable "scale" { default = "toy" }

locals {
  sizes = ["tiny"]
  twice = local.size
}

step "download" "nq" {
  url = "${var.scal}/${local.sises[0]}"
}

step "extract" "a" {
  shards = [step.download.qn.file, step.downlod.nq.file, nq.file]
  split  = dev
}

step "extract" "b" {
  shards = step.download.nq.fil
  limit  = each.key
}

step "train" "c" {
  corpus = table.x.markdown
  size   = lokal.sizes
}

step "download" "environment" {
  url    = "cp $HOME/a ${HOME}/b $${HOME}/c"
  sha256 = "${sample}"
}

step "download" "unquoted" {
  url    = HOME
  sha256 = "${HOME.x}"
}

step "train" "half" {
  corpus = figure["50%"].image
  size   = step.nowhere
}
