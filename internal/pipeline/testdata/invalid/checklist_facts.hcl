checklist {
  acl = { A1 = "yes", A9 = "no" }

  dataset "nq" {
    license = "CC"
  }
  dataset "nq" {
  }
}
