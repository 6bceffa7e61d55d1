//go:build notorch

package device

import "github.com/redsi/redsi/internal/tensor"

// Card is what this process has of CUDA: nothing.
func Card() CUDA {
	return CUDA{Why: tensor.Available().Error()}
}

// Memory is not known: nothing is computed.
func Memory(int) (now, most int64, ok bool) { return 0, 0, false }
