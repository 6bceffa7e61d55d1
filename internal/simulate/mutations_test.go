package simulate

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var mutating = flag.Bool("mutations", false, "for TestMutations: put the faults of its table into the engine and see whether schedules find them")

// seedsTried is by how many schedules a fault must be found.
const seedsTried = 2000

// A mutation is a fault that is put into the engine: in a file of the product, a text that is there once gives way to another one.
type mutation struct {
	name, file, was, is string
	fault               string // what a user would have of it
}

// mutations are faults that the engine has had, or could have: each its name after "# ", its file, its fault, and the lines that go and come.
var mutations = func() (all []mutation) {
	text, err := os.ReadFile(filepath.Join("testdata", "mutations.txt"))
	if err != nil {
		panic(err)
	}
	for _, one := range strings.Split(string(text), "\n# ")[1:] {
		lines := strings.Split(strings.TrimRight(one, "\n"), "\n")
		m := mutation{name: lines[0], file: lines[1], fault: lines[2]}
		for _, line := range lines[3:] {
			if was, ok := strings.CutPrefix(line, "-"); ok {
				m.was += "\n" + was
			} else if is, ok := strings.CutPrefix(line, "+"); ok {
				m.is += "\n" + is
			}
		}
		m.was, m.is = strings.TrimPrefix(m.was, "\n"), strings.TrimPrefix(m.is, "\n")
		all = append(all, m)
	}
	return all
}()

// apply is the file's path and its text with the fault.
func (m mutation) apply() (path, text string, err error) {
	path, err = filepath.Abs(filepath.Join("..", "..", m.file)) // tests start in the folder of their package
	b, rerr := os.ReadFile(path)
	if n := strings.Count(string(b), m.was); n != 1 {
		err = errors.Join(err, fmt.Errorf("%s: %s has %q %d times: state the fault in the code as it is now", m.name, m.file, m.was, n))
	}
	return path, strings.Replace(string(b), m.was, m.is, 1), errors.Join(err, rerr)
}

// TestMutationsApply: the table of mutations goes with the engine as it is.
func TestMutationsApply(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutations {
		if _, _, err := m.apply(); err != nil || names[m.name] || m.is == m.was || m.fault == "" {
			t.Errorf("%s: its name is taken, it changes nothing, or it does not say what is wrong with it: %v", m.name, err)
		}
		names[m.name] = true
	}
}

// TestMutations: each mutation, alone, fails one of the first seedsTried schedules. A part of the table: -run TestMutations/each/NAME.
func TestMutations(t *testing.T) {
	if !*mutating {
		t.Skip("it builds the engine anew for each mutation: make mutate")
	}
	rows := make([]string, len(mutations))
	t.Run("each", func(t *testing.T) {
		for i, m := range mutations {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				seed, rule := m.find(t)
				rows[i] = fmt.Sprintf("| %s | %s | %s | %.0f |\n", m.fault, seed, rule, time.Since(began).Seconds())
				t.Log(rows[i])
			})
		}
	})
	fmt.Printf("| fault | found by seed | by the rule | seconds |\n|---|--:|---|--:|\n%s", strings.Join(rows, ""))
}

// find builds the simulation with the fault, and has it play schedules until one fails.
func (m mutation) find(t *testing.T) (seed, rule string) {
	path, text, err := m.apply()
	folder := t.TempDir()
	mutated, overlay, program := filepath.Join(folder, "mutated.go"), filepath.Join(folder, "overlay.json"), filepath.Join(folder, "simulate.test")
	replace, jerr := json.Marshal(map[string]any{"Replace": map[string]string{path: mutated}})
	if err := errors.Join(err, jerr, os.WriteFile(mutated, []byte(text), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "test", "-c", "-p", "1", "-vet", "off", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, out)
	}
	seed, said, err := elsewhere(program, "-mutant", "-half=0", fmt.Sprintf("-seeds=%d", seedsTried))
	if err == nil {
		t.Errorf("no schedule of %d finds it", seedsTried)
		return "none", ""
	}
	t.Log(said[:min(len(said), 4<<10)])
	_, verdict, _ := strings.Cut(said, breaks)
	return seed, cmp.Or(ruleOf(verdict), "the process ends")
}
