package report

import (
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/system/words"
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

func took(s float64) string { return words.Seconds(time.Duration(s * float64(time.Second))) }

func short(digest string) string {
	_, hex, ok := strings.Cut(digest, ":")
	if !ok || len(hex) < 12 {
		return digest
	}
	return hex[:12]
}
