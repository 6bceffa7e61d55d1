package tensor

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/redsi/redsi/internal/model/tensor/native"
)

// Counts are what operations ask of a card.
type Counts struct {
	Launches  int64            `json:"launches"`  // kernels
	Operators map[string]int64 `json:"operators"` // kernels by libtorch's name of the operator, without "aten::"

	Uploads       int64 `json:"uploads"` // copies to the card
	UploadBytes   int64 `json:"upload_bytes"`
	Downloads     int64 `json:"downloads"` // copies from the card, each of which waits for it
	DownloadBytes int64 `json:"download_bytes"`
	// Syncs are operators that wait for the card, by name. Downloads are not among them.
	Syncs map[string]int64 `json:"syncs"`

	Flops int64 `json:"flops"` // of matrix products: two for a multiplication with its addition
	Bytes int64 `json:"bytes"` // read and written by kernels, each operand once
	Peak  int64 `json:"peak"`  // bytes of tensors live at the most, without those that were there before
}

// transfers are the copies between the CPU and a card so far, in this process.
var transfers struct{ uploads, uploadBytes, downloads, downloadBytes atomic.Int64 }

// uploaded notes a copy to dev.
func uploaded(dev Device, bytes int64) {
	if dev.IsCUDA() {
		transfers.uploads.Add(1)
		transfers.uploadBytes.Add(bytes)
	}
}

// downloaded notes a copy of t to the CPU. An emulated card's tensors are not known from
// the CPU's: all count.
func (t *Tensor) downloaded() {
	if emulated.Load() || t.Device().IsCUDA() {
		transfers.downloads.Add(1)
		transfers.downloadBytes.Add(t.Numel() * int64(t.DType().Size()))
	}
}

// Count is what f's operations ask of a card, on this thread; inside Run or Try. It counts
// operators as libtorch's dispatcher calls them, the backward pass's too: on an emulated card
// those of the composed path. One that calls others, that is a view or an allocation is not a
// kernel; one for many tensors (_foreach_mul_) is as many as CUDA makes of it.
func Count(f func()) (c Counts) {
	before := [4]int64{transfers.uploads.Load(), transfers.uploadBytes.Load(), transfers.downloads.Load(), transfers.downloadBytes.Load()}
	counter, text := native.CountBegin(), ""
	func() {
		defer func() { text = native.CountEnd(counter) }()
		f()
	}()
	c = Counts{Operators: map[string]int64{}, Syncs: map[string]int64{}}
	for line := range strings.Lines(text) {
		var kind, name string
		var n int64
		if _, err := fmt.Sscan(line, &kind, &name, &n); err != nil {
			Failf("Count", "%q: %v", line, err)
		}
		switch kind + " " + name {
		case "total flops":
			c.Flops = n
		case "total bytes":
			c.Bytes = n
		case "total peak":
			c.Peak = n
		default:
			if kind == "sync" {
				c.Syncs[name] = n
				continue
			}
			c.Operators[name] = n
			c.Launches += n
		}
	}
	c.Uploads, c.UploadBytes = transfers.uploads.Load()-before[0], transfers.uploadBytes.Load()-before[1]
	c.Downloads, c.DownloadBytes = transfers.downloads.Load()-before[2], transfers.downloadBytes.Load()-before[3]
	return c
}
