# Estimates pi from n random points of a square: four times the share that lies in the
# quarter circle. The generator is Park and Miller's, so every awk draws the same points.
function draw() {
	x = (x * 16807) % 2147483647
	return x / 2147483647
}
BEGIN {
	x = seed * 7919 + 1
	for (i = 0; i < n; i++) {
		a = draw()
		b = draw()
		inside += a * a + b * b < 1
	}
	pi = 4 * inside / n
	error = pi - 3.141592653589793
	printf "{\"pi\": %.6f, \"error\": %.6f}\n", pi, error < 0 ? -error : error > "out/metrics.json"
}
