package seq2seq

import (
	"github.com/redsi/redsi/internal/model/int8s"
	"github.com/redsi/redsi/internal/model/tensor"
)

// SearchIn lets encoding, decoding steps and scores multiply in a precision: "fp32", "bf16" or "int8". int8 rounds only
// products with matrices, parameters and everything else stay float32; it is for processors, and not for Gradients.
func (m *Model) SearchIn(precision string) (err error) {
	if m.int8 = nil; precision == "int8" {
		if m.int8, err = int8s.New(m.Device); err != nil {
			return err
		}
		precision = "fp32"
	}
	m.HalfScores = true
	m.Compute, err = tensor.ParseDType(precision)
	return err
}

func (m *Model) Int8() bool { return m.int8 != nil }

// Slow is what a user should know of a search whose precision takes longer than fp32 on this processor; "" of others.
func (m *Model) Slow() string {
	if m.Int8() {
		return int8s.Slow()
	}
	return tensor.SlowBF16(m.Compute, m.Device)
}
