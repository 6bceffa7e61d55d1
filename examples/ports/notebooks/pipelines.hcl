# Three notebooks of the book Think Stats (AllenDowney/ThinkStats2, 2nd edition), as they are,
# with the modules that they import and the survey that they read.

environment "py" {
  requirements = "requirements.txt"
  python       = "3.11"
}

source "survey" { path = "code/2002Fem*" }

source "race" { path = "code/Apr25_27thAn_set1.shtml" }

locals {
  survey = { for name in ["2002FemPreg.dat.gz", "2002FemPreg.dct", "2002FemResp.dat.gz", "2002FemResp.dct"] : "code/${name}" => source.survey.files[name] }
  race   = { "code/Apr25_27thAn_set1.shtml" = source.race.files["Apr25_27thAn_set1.shtml"] }
}

step "python" "chapter" {
  for_each    = toset(["chap01ex", "chap02ex", "chap03ex"])
  script      = "code/${each.key}.ipynb"
  environment = environment.py
  inputs      = each.key == "chap03ex" ? merge(local.survey, local.race) : local.survey
}

# What their cells put out, one after the other.
step "python" "outputs" {
  script    = "outputs.py"
  arguments = [for name, _ in step.python.chapter : "${name}.ipynb"]
  inputs    = { for name, chapter in step.python.chapter : "${name}.ipynb" => chapter.notebook["${name}.ipynb"] }
}
