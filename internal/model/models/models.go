package models

import (
	"cmp"

	"github.com/redsi/redsi/internal/model/bart"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
)

// families are all of them; a config.json without model_type is of the first.
var families = []seq2seq.Family{t5.Family, t5.MT5, t5.UMT5, bart.Family}

// Load opens a model folder: config.json with model.safetensors or, where that is not
// there, pytorch_model.bin.
func Load(folder string, device tensor.Device) (*seq2seq.Model, error) {
	return seq2seq.Load(folder, device, families...)
}

// LoadIn opens a model for searches on the device, whose matrix products are of the precision: "fp32", also if none is
// given, "bf16", or on a CPU "int8".
func LoadIn(folder string, device tensor.Device, precision string) (*seq2seq.Model, error) {
	m, err := Load(folder, device)
	if err != nil {
		return nil, err
	}
	if err := m.SearchIn(cmp.Or(precision, "fp32")); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// ReadConfig reads a model folder's config.json.
func ReadConfig(folder string) (seq2seq.Config, error) {
	return seq2seq.ReadConfig(folder, families...)
}
