# calkit's first example (calkit/example-basic): data are drawn, plotted, and put into a paper.
# calkit runs it by DVC.

environment "py" {
  requirements = "requirements.txt"
  python       = "3.11"
}

step "python" "collect_data" {
  script      = "scripts/collect-data.py"
  environment = environment.py
  outputs     = ["data/raw/data.csv"]
}

step "python" "plot_voltage" {
  script      = "scripts/plot-voltage.py"
  environment = environment.py
  inputs      = { "data/raw/data.csv" = step.python.collect_data.out["data/raw/data.csv"] }
  outputs     = ["figures/voltage-time-series.png"]
}

step "command" "build_paper" {
  script   = <<-EOT
    mkdir -p paper figures
    cp in/paper.tex paper
    cp in/figures/* figures
    cd paper
    latexmk -pdf paper.tex >&2
    mv paper.pdf ../out
  EOT
  programs = ["latexmk", "pdflatex"]
  inputs = {
    "paper.tex" = source.paper.files["paper.tex"]
    figures     = step.python.plot_voltage.out["figures"]
  }
  env     = { FORCE_SOURCE_DATE = "1" } # \today is SOURCE_DATE_EPOCH
  outputs = ["paper.pdf"]
}

source "paper" { path = "paper/paper.tex" }

figure "voltage" {
  caption = "Raw voltage time series"
  image   = step.python.plot_voltage.out
}

publish "paper" {
  files = step.command.build_paper.out
  to    = "built"
}
