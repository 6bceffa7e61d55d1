module "other" {
  source = "./other"
}
