package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/internal/corpora/safetensors"
)

// maxIndex bounds what is read of an index.
const maxIndex = 64 << 20

// Weights opens a model folder's weights and gives them to read: model.safetensors, or the
// files that model.safetensors.index.json lists, or pytorch_model.bin, or its index's.
// Errors name the file and, where it does not fit, say what to do.
func Weights(folder string, read func(*File) error) error {
	for _, name := range safetensors.WeightFiles {
		path := filepath.Join(folder, name)
		f, size, err := open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		defer f.Close()
		if filepath.Ext(name) == ".json" {
			err = readShards(folder, f, size, read)
		} else {
			var weights *File
			if weights, err = Open(f, size); err == nil {
				err = read(weights)
			}
		}
		if errors.Is(err, ErrOther) {
			return fmt.Errorf("%s: %w; take config.json and the weights from one place", path, err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	}
	return fmt.Errorf("%s has none of %v", folder, safetensors.WeightFiles)
}

// Plain says what in a config.json makes another model of the weights than names and shapes say, whatever its family.
func Plain(config []byte) error {
	var c struct {
		Quantization *json.RawMessage `json:"quantization_config"`
		Pruned       map[string]any   `json:"pruned_heads"`
		Tied         bool             `json:"tie_encoder_decoder"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return err
	}
	switch {
	case c.Quantization != nil:
		return errors.New("it has a quantization_config: quantized weights are not read: take the weights before quantization")
	case len(c.Pruned) > 0:
		return errors.New("it has pruned_heads, which are not supported")
	case c.Tied:
		return errors.New("tie_encoder_decoder is true, which is not supported: encoder and decoder have weights of their own")
	}
	return nil
}

func open(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// readShards opens the files that an index lists, which must have the tensors that it says, and no others.
func readShards(folder string, index *os.File, size int64, read func(*File) error) error {
	if size > maxIndex {
		return fmt.Errorf("%d bytes; an index of at most %d is read", size, maxIndex)
	}
	var of struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.NewDecoder(index).Decode(&of); err != nil {
		return fmt.Errorf("it is not an index of weights: %w", err)
	}
	if len(of.WeightMap) == 0 {
		return errors.New("it has no weight_map, which says for each tensor in which file it is")
	}
	all := &File{tensors: map[string]info{}, asked: map[string]bool{}}
	shards := map[string]*File{}
	listed := slices.Sorted(maps.Keys(of.WeightMap))
	for _, tensor := range listed {
		name := of.WeightMap[tensor]
		if shards[name] != nil {
			continue
		}
		if name == "" || name != filepath.Base(name) || !filepath.IsLocal(name) {
			return fmt.Errorf("weight_map has %q for tensor %q: want the name of a file in the same folder", name, tensor)
		}
		f, size, err := open(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("tensor %q is in %s, which is not there: all files that weight_map names are needed", tensor, name)
		}
		if err != nil {
			return err
		}
		defer f.Close()
		if shards[name], err = Open(f, size); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	files := slices.Sorted(maps.Keys(shards))
	for _, tensor := range listed {
		name := of.WeightMap[tensor]
		t, ok := shards[name].tensors[tensor]
		if !ok {
			elsewhere := ""
			if i := slices.IndexFunc(files, func(file string) bool { return shards[file].Has(tensor) }); i >= 0 {
				elsewhere = ", but in " + files[i]
			}
			return fmt.Errorf("tensor %q is not in %s, where weight_map says%s", tensor, name, elsewhere)
		}
		t.file = name
		all.tensors[tensor] = t
	}
	for _, file := range files {
		for _, tensor := range slices.Sorted(maps.Keys(shards[file].tensors)) {
			if in := of.WeightMap[tensor]; in == "" {
				return fmt.Errorf("tensor %q in %s is not in weight_map", tensor, file)
			} else if in != file {
				return fmt.Errorf("tensor %q is in %s and in %s, where weight_map says", tensor, file, in)
			}
		}
	}
	return read(all)
}
