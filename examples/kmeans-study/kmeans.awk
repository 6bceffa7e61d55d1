# Lloyd's k-means over lines of x,y,label: out/metrics.json and out/centres.csv.
# Variables: k, seed, start ("random": k of the points; "plus": k-means++, each
# centre a point drawn by its squared distance to the nearest one so far).

BEGIN { FS = "," }

{ x[NR] = $1; y[NR] = $2; label[NR] = $3 }

function uniform() { # as in points.awk
  state = (16807 * state) % 2147483647
  return state / 2147483647
}

function distance(i, c) { return (x[i] - cx[c]) ^ 2 + (y[i] - cy[c]) ^ 2 }

# nearest puts the squared distance to the nearest of the first m centres in d.
function nearest(i, m,   c, best) {
  best = 0
  d = distance(i, 0)
  for (c = 1; c < m; c++)
    if (distance(i, c) < d) { d = distance(i, c); best = c }
  return best
}

function choose(c, i) { cx[c] = x[i]; cy[c] = y[i]; taken[i] = 1 }

function draw(c,   i, sum, at) {
  if (start == "random" || c == 0) {
    do i = 1 + int(NR * uniform()); while (i in taken)
    return i
  }
  for (i = 1; i <= NR; i++) { nearest(i, c); sum += d }
  at = sum * uniform()
  for (i = 1; i <= NR; i++) { nearest(i, c); at -= d; if (at < 0) return i }
  return NR
}

END {
  if (start != "random" && start != "plus") { print "start is random or plus, not " start > "/dev/stderr"; exit 1 }
  state = 1000 + seed
  for (i = 0; i < 10; i++) uniform() # neighbouring seeds start alike
  for (c = 0; c < k; c++) choose(c, draw(c))
  for (moved = 1; moved; iterations++) {
    moved = inertia = 0
    for (c = 0; c < k; c++) n[c] = sx[c] = sy[c] = 0
    for (i = 1; i <= NR; i++) {
      c = nearest(i, k)
      inertia += d
      if (!(i in of) || of[i] != c) { of[i] = c; moved++ }
      n[c]++; sx[c] += x[i]; sy[c] += y[i]
    }
    print "iteration " iterations + 1 ", " moved " moved" > "/dev/stderr"
    for (c = 0; c < k; c++) if (n[c]) { cx[c] = sx[c] / n[c]; cy[c] = sy[c] / n[c] }
  }
  for (i = 1; i <= NR; i++) {
    both = of[i] "," label[i]
    if (++count[both] > most[of[i]]) most[of[i]] = count[both]
  }
  for (c = 0; c < k; c++) pure += most[c]
  printf "{\"inertia\": %.3f, \"purity\": %.4f, \"iterations\": %d}\n", inertia, pure / NR, iterations > "out/metrics.json"
  for (c = 0; c < k; c++) printf "%.4f,%.4f,%d\n", cx[c], cy[c], n[c] > "out/centres.csv"
}
