paper {
  title        = "T"
  authors      = ["A. Author", "B. Author"]
  license      = "some licence or other"
  doi          = "https://doi.org/10.5281/zenodo.1234"
  orcid        = { "A. Author" = "0000-0002-1825-0098", "B. Autor" = "0000-0002-1825-0097" }
  affiliations = { "C. Author" = "X" }
}
