# Run by this folder's own programs: see README.md.
step "download" "letters" {
  urls = ["letters/first.txt", "letters/second.txt"]
}

step "word_count" "letters" {
  for_each = { all = 1, long = 5 }
  files    = step.download.letters.files
  letters  = each.value
}

step "longest_word" "letters" {
  files = step.download.letters.files
}

table "words" {
  paper   = "tab:words"
  caption = "Words in two letters."
  stubs   = ["Words"]
  columns = [{ id = "words", title = "Count", format = "integer" }]
  rows    = [for k in keys(step.word_count.letters) : { id = k, titles = [k], value = step.word_count.letters[k].report }]

  expect "all.words" { value = 12 }
}

table "longest" {
  paper   = "tab:longest"
  caption = "Letters of the longest word."
  stubs   = ["Texts"]
  columns = [{ id = "letters", title = "Letters", format = "integer" }]
  rows    = [{ id = "letters", titles = ["letters"], value = step.longest_word.letters.report }]
}
