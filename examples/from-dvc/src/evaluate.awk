# Scores posts by a model: metrics.json, and recall and precision by threshold in prc.json.
BEGIN { FS = "\t" }
FILENAME ~ /model/ { weight[$1] = $2; next }
{
  s = weight[""]
  for (i = 2; i <= NF; i++) s += weight[$i]
  score[++n] = s; label[n] = $1; positives += $1; right += (s > 0) == $1
}
END {
  for (t = -4; t <= 4; t++) {
    hit = shown = 0
    for (i = 1; i <= n; i++) if (score[i] > t) { shown++; hit += label[i] }
    if (shown) points = points (points ? ",\n  " : "") sprintf("{\"threshold\": %d, \"recall\": %.4f, \"precision\": %.4f}", t, hit / positives, hit / shown)
  }
  printf "{\"accuracy\": %.4f, \"posts\": %d}\n", right / n, n > "out/metrics.json"
  printf "{\"points\": [\n  %s\n]}\n", points > "out/plots/prc.json"
}
