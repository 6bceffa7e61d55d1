package main

import (
	"fmt"
	"strings"
	"time"
)

// cost is what a part takes, approximately, from empty caches.
type cost struct {
	cpu                    time.Duration // of a processor's core
	usual                  time.Duration // from start to end, on two cores with other parts beside it
	lines                  int           // that its compiler prints, one for each package or crate; 0 for a single file
	download, disk, caches int64         // bytes
	torch, half            bool          // it takes the torch wheel; it has libtorch's CUDA half
}

// The torch wheel and libtorch's CUDA half, which parts share, are downloaded and stored once.
const (
	torchDownload = 531e6
	halfDisk      = 515e6
)

var costs = map[string]cost{
	"libtorch":         {cpu: 25 * time.Second, usual: 40 * time.Second, download: 3e6, disk: 523e6, torch: true},
	"cuda":             {cpu: 45 * time.Second, usual: 90 * time.Second, download: 1968e6, disk: 2524e6, torch: true, half: true},
	"cuda-kernels":     {cpu: 10 * time.Second, usual: 20 * time.Second, torch: true, half: true},
	"cuda-graphs":      {cpu: 10 * time.Second, usual: 15 * time.Second, download: 2.4e6, disk: 0.2e6},
	"gotch":            {cpu: 180 * time.Second, usual: 300 * time.Second, download: 10e6, caches: 60e6},
	"tokenizers":       {cpu: 260 * time.Second, usual: 390 * time.Second, lines: 110, download: 25e6, disk: 50e6, caches: 200e6},
	"temporal-server":  {cpu: 400 * time.Second, usual: 400 * time.Second, lines: 1000, download: 80e6, disk: 78e6, caches: 1200e6},
	"uv":               {cpu: 2 * time.Second, usual: 5 * time.Second, download: 18e6, disk: 38e6},
	"minio":            {cpu: 420 * time.Second, usual: 350 * time.Second, lines: 1200, download: 200e6, disk: 107e6, caches: 1300e6},
	"versitygw":        {cpu: 240 * time.Second, usual: 200 * time.Second, lines: 800, download: 90e6, disk: 45e6, caches: 800e6},
	"seaweedfs":        {cpu: 3 * time.Second, usual: 5 * time.Second, download: 48e6, disk: 153e6},
	"bin/redsi":        {cpu: 200 * time.Second, usual: 110 * time.Second, lines: 880, caches: 500e6},
	"bin/redsi-models": {cpu: 100 * time.Second, usual: 60 * time.Second, caches: 100e6},
}

// costOf returns what the parts take together; linked says that their CUDA half is here.
func costOf(parts []string, linked bool) cost {
	var sum cost
	for _, name := range parts {
		c := costs[name]
		sum.cpu += c.cpu
		sum.download += c.download
		sum.disk += c.disk
		sum.caches += c.caches
		sum.torch = sum.torch || c.torch && !(c.half && linked)
		sum.half = sum.half || c.half && !linked
	}
	if sum.torch {
		sum.download += torchDownload
	}
	if sum.half {
		sum.disk += halfDisk
	}
	return sum
}

// slowLine is the download rate, in bytes a second, for which a time is announced where there is much to download.
const slowLine = 10e6

// left says how long a part that has printed that many lines will go on; "" if it is unknown.
func (c cost) left(elapsed time.Duration, lines int) string {
	if c.usual == 0 {
		return ""
	}
	left := c.usual - elapsed
	if c.lines > 0 && lines > 0 && elapsed > 10*time.Second {
		left = elapsed * time.Duration(c.lines-lines) / time.Duration(lines)
	}
	if left <= 0 {
		return "almost done, or a busy machine"
	}
	return about(left) + " left"
}

// about writes a time as a person says it.
func about(d time.Duration) string {
	if d < 50*time.Second {
		return fmt.Sprintf("about %d s", max(5, int(d.Round(5*time.Second).Seconds())))
	}
	return fmt.Sprintf("about %d min", int(d.Round(time.Minute).Minutes()))
}

// enumerate joins names: a, b and c.
func enumerate(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
