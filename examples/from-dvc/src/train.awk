# Naive Bayes: the logarithm of how much likelier a word is in posts about R.
BEGIN { FS = OFS = "\t" }
{ posts[$1]++; for (i = 2; i <= NF; i++) { n[$1]++; count[$1, $i]++; words[$i] } }
END {
  print "", log(posts[1] / posts[0])       # of a post without words
  for (w in words)
    print w, log((count[1, w] + alpha) / (n[1] + alpha)) - log((count[0, w] + alpha) / (n[0] + alpha)) | "sort"
}
