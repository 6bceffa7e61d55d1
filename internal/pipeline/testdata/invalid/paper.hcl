paper {
  title   = var.title
  authors = "A. Author"
  year    = 2026
}

paper "second" {
}

paper {
  title = "again"
}
