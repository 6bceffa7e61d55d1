# The final workflow of Snakemake's tutorial (snakemake/snakemake, docs/tutorial/advanced.rst):
# reads of samples are mapped to a genome, sorted, indexed and called together. Programs are
# those of PATH. The script that plots is taken as it is from the page; data.py makes a genome
# and reads.

variable "prior_mutation_rate" { default = 0.001 }

locals { samples = ["A", "B"] }

environment "py" {
  requirements = "requirements.txt"
  python       = "3.11"
}

source "genome" { path = "data/genome.fa*" }

source "samples" { path = "data/samples/*.fastq" }

step "command" "bwa_map" {
  for_each = toset(local.samples)
  script   = "bwa mem -R '@RG\\tID:${each.key}\\tSM:${each.key}' -t 2 in/genome.fa in/reads.fastq | samtools view -Sb - > out/mapped.bam"
  programs = ["bwa", "samtools"]
  inputs   = merge(local.genome, { "reads.fastq" = source.samples.files["${each.key}.fastq"] })
  outputs  = ["mapped.bam"]
}

step "command" "samtools_sort" {
  for_each = step.command.bwa_map
  script   = "samtools sort -T tmp/sort -O bam in/mapped.bam > out/${each.key}.bam"
  programs = ["samtools"]
  inputs   = { "mapped.bam" = each.value.out["mapped.bam"] }
  outputs  = ["${each.key}.bam"]
}

# The index is beside its file, which others take together.
step "command" "samtools_index" {
  for_each = step.command.samtools_sort
  script   = "samtools index in/sorted.bam out/${each.key}.bam.bai"
  programs = ["samtools"]
  inputs   = { "sorted.bam" = each.value.out["${each.key}.bam"] }
  outputs  = ["${each.key}.bam.bai"]
}

step "command" "bcftools_call" {
  script   = "bcftools mpileup -f in/genome.fa ${join(" ", [for s in local.samples : "in/${s}.bam"])} | bcftools call -mv -P ${var.prior_mutation_rate} - > out/all.vcf"
  programs = ["bcftools"]
  inputs = merge(local.genome,
    { for s in local.samples : "${s}.bam" => step.command.samtools_sort[s].out["${s}.bam"] },
    { for s in local.samples : "${s}.bam.bai" => step.command.samtools_index[s].out["${s}.bam.bai"] },
  )
  outputs = ["all.vcf"]
}

step "python" "plot_quals" {
  script      = "run_rule.py"
  arguments   = ["scripts/plot-quals.py", "calls/all.vcf", "plots/quals.svg"]
  code        = ["scripts/*.py"]
  environment = environment.py
  inputs      = { "calls/all.vcf" = step.command.bcftools_call.out["all.vcf"] }
  outputs     = ["plots/quals.svg"]
}

figure "quals" {
  caption = "Quality of the called variants."
  image   = step.python.plot_quals.out
}

# bwa and samtools look for the index beside the genome.
locals {
  genome = { for ending in ["", ".amb", ".ann", ".bwt", ".pac", ".sa", ".fai"] : "genome.fa${ending}" => source.genome.files["genome.fa${ending}"] }
}
