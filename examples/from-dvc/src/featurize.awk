# Turns the words of posts into counts of the commonest words of those to train on.
BEGIN { FS = OFS = "\t" }
{ n = split($3, words, " ") }
FILENAME ~ /train/ { for (i = 1; i <= n; i++) seen[words[i]]++ }
{ file[NR] = FILENAME; label[NR] = $2; text[NR] = $3 }
END {
  for (w in seen) {                        # rank: how many are commoner, or come first
    rank = 0
    for (v in seen) rank += seen[v] > seen[w] || seen[v] == seen[w] && v < w
    keep[w] = rank < max_features
  }
  for (r = 1; r <= NR; r++) {
    n = split(text[r], words, " "); line = label[r]
    for (i = 1; i <= n; i++) if (keep[words[i]]) line = line OFS words[i]
    print line > (file[r] ~ /train/ ? "out/train.tsv" : "out/test.tsv")
  }
}
