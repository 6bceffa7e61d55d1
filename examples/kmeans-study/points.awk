# Points around six centres on the unit circle: lines of x,y,centre.
# Variables: n points, spread (standard deviation), seed (default 1).

# uniform is in (0, 1): Park and Miller's generator, whose products are exact in
# the doubles of any awk, unlike rand(), which differs between them.
function uniform() {
  state = (16807 * state) % 2147483647
  return state / 2147483647
}

# normal is a standard normal number, by Box and Muller.
function normal() {
  return sqrt(-2 * log(uniform())) * cos(2 * pi * uniform())
}

BEGIN {
  pi = atan2(0, -1)
  state = seed ? seed : 1
  for (i = 0; i < n; i++) {
    c = i % 6
    x = cos(pi * c / 3) + spread * normal()
    y = sin(pi * c / 3) + spread * normal()
    printf "%.4f,%.4f,%d\n", x, y, c > "out/points.csv"
  }
}
