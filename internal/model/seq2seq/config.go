package seq2seq

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strconv"
)

// UnmarshalConfig reads config.json into own, whose fields have what it leaves out, and
// returns all of its fields, for MarshalConfig to write.
func UnmarshalConfig(data []byte, own any) (all map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(data, own); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	if all == nil {
		return nil, errors.New("it is null")
	}
	return all, nil
}

// MarshalConfig writes config.json: own's fields, the fields of other that own does not have, and the defaults that
// neither has.
func MarshalConfig(own any, other map[string]json.RawMessage, defaults map[string]any) ([]byte, error) {
	all := maps.Clone(defaults)
	for name, value := range other {
		all[name] = value
	}
	all["torch_dtype"] = "float32" // as WriteWeights writes them, whatever was read
	if _, ok := all["dtype"]; ok { // transformers' name since 4.56, which counts where both are there
		all["dtype"] = "float32"
	}
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	// NOTE transformers 5 refuses a folder in which a number that is a float to it is written as an integer, 1 for 1.0.
	of := reflect.ValueOf(own)
	for _, f := range reflect.VisibleFields(of.Type()) {
		if v := of.FieldByIndex(f.Index); v.CanFloat() && v.Float() == math.Trunc(v.Float()) {
			all[f.Tag.Get("json")] = json.RawMessage(strconv.FormatFloat(v.Float(), 'f', 1, 64))
		}
	}
	return json.MarshalIndent(all, "", "  ")
}

// CheckSize says if a size of a configuration is not 1 to most.
func CheckSize(name string, v, most int64) error {
	if v < 1 || v > most {
		return fmt.Errorf("%s is %d, want 1 to %d", name, v, most)
	}
	return nil
}

// Check says which of its tokens are outside of the vocabulary, by their names in config.json.
func (v Vocabulary) Check() error {
	for _, t := range []struct {
		name string
		id   *int64
	}{{"decoder_start_token_id", &v.Start}, {"eos_token_id", &v.EOS}, {"forced_bos_token_id", v.ForcedBOS},
		{"forced_eos_token_id", v.ForcedEOS}, {"pad_token_id", &v.Pad}} {
		if t.id != nil && (*t.id < 0 || *t.id >= v.Size) {
			return fmt.Errorf("%s %d is outside of the vocabulary of %d", t.name, *t.id, v.Size)
		}
	}
	return nil
}
