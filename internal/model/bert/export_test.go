package bert

import (
	"io"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// Read makes a model of the text of config.json and a file of weights.
func Read(config []byte, weights io.ReaderAt, size int64, device tensor.Device) (*Model, error) {
	c, err := parse(config)
	if err != nil {
		return nil, err
	}
	f, err := checkpoint.Open(weights, size)
	if err != nil {
		return nil, err
	}
	return readWeights(c, f, device)
}
