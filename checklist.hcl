# What conferences' checklists ask and no record knows: `redsi report --checklist acl`. In the paper's words where it has any.
checklist {
  selection = "Checkpoints by development MRR@10. Input length, learning rate and warmup for each type of identifier from the complete sweep with T5-Base on NQ320K-Title/NciNorm (tab:hparams-controlled-full; for naive identifiers length 32 is kept, a near-tie with the maximum at 64); smaller models reuse them without retuning. The natural ratio, as it works best on average."
  search = {
    "input length (max_input)"          = "32, 64"
    "learning rate"                     = "5e-4, 1e-3"
    "warmup"                            = "0, 10K, 100K updates"
    "indexing-to-retrieval ratio"       = "0:1, natural (1:2.8), 1:1, 4:1, 8:1, 16:1, 32:1, 64:1"
    "assignment budget of naive ids"    = "1, 2, 2.9, 4, 8, 16 and 32 times the documents"
    "updates, batch, precision (fixed)" = "1M updates of 128 examples, evaluated every 5K, FP16"
  }

  dataset "Natural Questions" {
    license   = "CC BY-SA 3.0"
    languages = ["English"]
    url       = "https://ai.google.com/research/NaturalQuestions"
    about     = "questions to a search engine with snapshots of English Wikipedia pages; its train and dev splits are kept"
  }
  dataset "NQ320K" {
    languages = ["English"]
    url       = "https://huggingface.co/datasets/vingtetun/nq320k"
    about     = "made here from Natural Questions, in variants by deduplication and serialization"
  }
  model "T5 1.0 (Efficient-Tiny, Small, Base)" {
    license   = "Apache-2.0"
    languages = ["English"]
    about     = "16M, 60M and 220M parameters; with atomic identifiers 44M, 116M and 304M"
  }

  acl = {
    A1 = "Section Limitations: English collections made of NQ, T5 models up to Base, hyperparameters of T5-Base for smaller ones."
    C1 = "The paper's own runs: NVIDIA V100 with 16 GB, FP16 mixed precision (appendix Software and Hardware). Its total of hours is not printed."
    C3 = "Single runs but for T5-Efficient-Tiny, whose 60 runs are with seeds 42 to 46: means with sample standard deviations."
    C4 = "The paper's own runs: Hugging Face Transformers 4.44.1, Adafactor."
  }
  neurips = {
    "2" = "Section Limitations."
    "7" = "Sample standard deviations over five seeds for T5-Efficient-Tiny; other numbers are single runs."
    "8" = "The paper's own runs: NVIDIA V100 with 16 GB, FP16 mixed precision. Its total of hours is not printed."
  }
}
