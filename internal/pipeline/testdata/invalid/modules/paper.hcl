#var token=x
variable "token" {
  sensitive = true
}

module "wrong" {
  source   = "./wrong"
  for_each = ["a", "b"]
  sise     = 1
  size     = ["x"]
  corpus   = step.download.a.file
}

module "open" {
  source = "./wrong"
  size   = 4
  corpus = step.download.a.file
  secret = "in clear"
}

module "broken" {
  source = "./broken"
}

module "poor" {
  source = "./wrong"
}

module "nowhere" {
  source = "./nowhere"
}

module "registry" {
  source = "first/paper"
}

module "made" {
  source = "./${var.token}"
}

module "none" {
  size = 1
  inner {}
}

module "selfish" {
  source = "./broken/../wrong"
  corpus = module.selfish.corpus
}

module "open" {
  source = "./wrong"
}

step "download" "a" {
  url = "https://lab.example.org/a"
}

step "download" "nothing" {
  url = module.open.nothing
}

step "download" "b" {
  url = module.opne.corpus
}

step "download" "c" {
  url = module.wrong.corpus
}

output "twice" {
  value = 1
  typo  = 2
}

output "twice" {
  value = output.twice
}

output "empty" {
  block {}
}
