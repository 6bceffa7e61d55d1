package report

import (
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

func number(v *float64) string {
	if v == nil {
		return "–"
	}
	return strings.Replace(humanize.Commaf(math.Round(*v*1e4)/1e4+0), "-", "−", 1) // + 0: no -0
}

func signed(v *float64) string {
	if v == nil || *v <= 0 {
		return number(v)
	}
	return "+" + number(v)
}

func short(digest string) string {
	_, hex, ok := strings.Cut(digest, ":")
	if !ok || len(hex) < 12 {
		return digest
	}
	return hex[:12]
}
