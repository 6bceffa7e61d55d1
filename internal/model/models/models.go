package models

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/model/bart"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/system/lists"
)

// families are all of them; a config.json without model_type is of the first.
var families = []seq2seq.Family{t5.Family, t5.MT5, t5.UMT5, bart.Family}

// Load opens a model folder: config.json with model.safetensors or, where that is not there, pytorch_model.bin.
func Load(folder string, device tensor.Device) (*seq2seq.Model, error) {
	c, err := ReadConfig(folder)
	if err != nil {
		return nil, err
	}
	return seq2seq.Load(folder, c, device)
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

// ReadConfig reads a model folder's config.json, which must be of one of the families.
func ReadConfig(folder string) (seq2seq.Config, error) {
	text, err := os.ReadFile(filepath.Join(folder, seq2seq.ConfigFile))
	if err != nil {
		return nil, err
	}
	c, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", folder, seq2seq.ConfigFile, err)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return c, nil
}

func parse(config []byte) (seq2seq.Config, error) {
	var of struct {
		Type *string `json:"model_type"`
	}
	if err := json.Unmarshal(config, &of); err != nil {
		return nil, err
	}
	if err := checkpoint.Plain(config); err != nil {
		return nil, err
	}
	for _, f := range families {
		if of.Type == nil || *of.Type == f.Type {
			return f.Parse(config)
		}
	}
	names := lists.Map(families, func(f seq2seq.Family) string { return strconv.Quote(f.Type) })
	return nil, fmt.Errorf("model_type is %q, want %s", *of.Type, strings.Join(names, " or "))
}
