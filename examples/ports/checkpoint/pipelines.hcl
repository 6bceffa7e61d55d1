# The two examples of Snakemake's documentation of checkpoints ("Data-dependent conditional
# execution"), in one. What somestep finds in a sample decides which of two rules treats it;
# clustering makes a folder of files, and nobody knows before how many.

step "download" "samples" {
  urls = [for name in ["A", "B", "C"] : "samples/${name}.txt"]
}

# checkpoint somestep: what becomes of a sample.
step "command" "somestep" {
  for_each = files(step.download.samples.files, "*.txt")
  script   = "wc -l < in/sample | awk '{ printf \"{\\\"lines\\\": %d}\", $1 }' > out/found.json"
  inputs   = { sample = each.file }
  outputs  = ["found.json"]
}

# rule post, for samples of one line
step "command" "post" {
  for_each = step.command.somestep
  when     = json(each.value.out, "found.json:lines") == 1
  script   = "echo ${each.key} post; cat in/sample"
  inputs   = { sample = step.download.samples.files["${each.key}.txt"] }
}

# rule alt, for the others
step "command" "alt" {
  for_each = step.command.somestep
  when     = json(each.value.out, "found.json:lines") != 1
  script   = "echo ${each.key} alt; sort -r in/sample"
  inputs   = { sample = step.download.samples.files["${each.key}.txt"] }
}

# rule aggregate, whose input function asked the checkpoint
step "command" "aggregate" {
  script = "cat in/treated/*"
  inputs = { for name, sample in step.command.somestep : "treated/${name}" => try(step.command.post[name].stdout, step.command.alt[name].stdout) }
}

# checkpoint clustering: a file for each first letter
step "command" "clustering" {
  script  = "awk '{ print > (\"out/clusters/\" substr($1, 1, 1) \".txt\") }' in/samples/*.txt"
  inputs  = { samples = step.download.samples.files }
  outputs = ["clusters/"]
}

step "command" "intermediate" {
  for_each = files(step.command.clustering.out, "clusters/*.txt")
  argv     = ["sort", "in/cluster"]
  inputs   = { cluster = each.file }
}

step "command" "clusters" {
  script = "grep -c . in/clusters/*"
  inputs = { for name, cluster in step.command.intermediate : "clusters/${name}" => cluster.stdout }
}
