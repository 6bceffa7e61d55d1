# The shape of Snakemake's tutorial (a sample sheet, map, sort, call, plot), with the
# coreutils in place of bwa, samtools and bcftools: docs/other-tools.md puts it
# beside a Snakefile.
#
#   redsi run -f examples/from-snakemake/pipelines.hcl

variable "min_reads" { default = 3 }

locals { samples = { for row in csvdecode(file("samples.csv")) : row.sample => row } }

step "download" "genome" {
  urls = ["data/genome.tsv"]
}

# A block for each sample: reads that change concern their own sample only.
step "download" "reads" {
  for_each = local.samples
  urls     = [each.value.reads]
  names    = ["reads.txt"]
}

# rule map: what it prints is its result.
step "command" "map" {
  for_each = local.samples
  script   = <<-EOT
    sample=${each.key}
    tr acgt ACGT < in/reads/reads.txt | sed "s/$/\t$${sample}/"
  EOT
  inputs   = { reads = step.download.reads[each.key].files }
}

# rule sort
step "command" "sort" {
  for_each = local.samples
  argv     = ["sort", "-k1,1n", "-k2,2", "in/mapped"]
  inputs   = { mapped = step.command.map[each.key].stdout }
}

# rule call: expand("sorted/{sample}.tsv", sample=SAMPLES) gathers all samples.
step "command" "call" {
  script  = <<-EOT
    sort -m -k1,1n -k2,2 in/sorted/*.tsv | cut -f 1,2 | uniq -c |
      awk -v min=${var.min_reads} '
        BEGIN { print "position,reference,base,reads" }
        NR == FNR { base[$1] = $2; next }
        $3 != base[$2] && $1 >= min { print $2 "," base[$2] "," $3 "," $1 }
      ' in/genome/genome.tsv - > out/calls.csv
  EOT
  inputs  = merge({ genome = step.download.genome.files }, { for s, sorted in step.command.sort : "sorted/${s}.tsv" => sorted.stdout })
  outputs = ["calls.csv"]
}

# rule plot_quals
figure "quals" {
  caption = "Reads for each base that is not the genome's."
  x       = { title = "Position" }
  y       = { title = "Reads", min = 0 }
  series  = [{ id = "calls", marker = "circle", line = "none", curve = { value = step.command.call.out, list = "calls.csv:", x = "position", y = "reads" } }]
}
