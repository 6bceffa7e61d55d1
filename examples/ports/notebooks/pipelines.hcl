# Three notebooks of the book Think Stats (AllenDowney/ThinkStats2, 2nd edition), as they are, with the modules that
# they import and the survey that they read.

environment "py" { uv = "uv.lock" }

source "survey" { path = "code/2002Fem*" }

step "python" "chapter" {
  for_each    = toset(["chap01ex", "chap02ex", "chap03ex"])
  script      = "code/${each.key}.ipynb"
  environment = environment.py
  inputs      = { for name in ["2002FemPreg.dat.gz", "2002FemPreg.dct", "2002FemResp.dat.gz", "2002FemResp.dct"] : "code/${name}" => source.survey.files[name] }
}
