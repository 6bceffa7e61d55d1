package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// environmentLines are what an environment block costs where its environment is there.
var environmentLines = []line{
	{name: "environment_there", target: 1, value: perUnit, once: true,
		doc:  "200 steps of one shell command each in an environment of 5,000 files that is there, less the same steps without one: a step, by the clock, the median of 5 pairs, against a bound of 5 ms",
		ours: redsiEnvironment("steps"), peer: side{bound: 5}},
	{name: "plan_ten_environments", target: 1, value: perUnit,
		doc:  "redsi plan with ten locks of uv of 100 packages and 2,000 wheels each, less the same plan without: by the clock, the median of 11, against a bound of 50 ms",
		ours: redsiEnvironment("plan"), peer: side{bound: 50}},
}

func redsiEnvironment(what string) side { return pieceOn("environment", (*env).redsi, what) }

// writeLock writes a uv.lock into a folder of its own, and the pyproject.toml beside it. Of each
// package's wheels the first is for all platforms.
func writeLock(dir string, id, packages, wheels int) error {
	var needs, list strings.Builder
	for i := range packages {
		fmt.Fprintf(&needs, "{ name = \"p%d\" }, ", i)
		fmt.Fprintf(&list, "\n[[package]]\nname = \"p%d\"\nversion = \"1.%d\"\nsource = { registry = \"https://index.example/simple\" }\nwheels = [\n", i, id)
		for w := range wheels {
			tag := "py3-none-any"
			if w > 0 {
				tag = fmt.Sprintf("cp3%d-cp3%d-manylinux_2_27_aarch64.manylinux_2_28_aarch64", 8+w, 8+w)
			}
			fmt.Fprintf(&list, "    { url = \"https://files.index.example/packages/d8/53/6f443c9a4a8358a93a6792e2acffb9d9d5cb0a5cfd8802644b7b1c9a02e4/p%d-1.%d-%s.whl\", hash = \"sha256:%064d\", size = 27697, upload-time = \"2025-10-25T02:36:22.414Z\" },\n", i, id, tag, w)
		}
		list.WriteString("]\n")
	}
	const requires = "requires-python = \">=3.11\"\n"
	lock := fmt.Sprintf("version = 1\n%s[[package]]\nname = \"study\"\nversion = \"0.1\"\nsource = { virtual = \".\" }\ndependencies = [%s]\n[package.metadata]\nrequires-dist = [%[2]s]\n%s", requires, &needs, &list)
	project := "[project]\nname = \"study\"\n" + requires + "dependencies = [" + strings.NewReplacer("{ name = ", "", " }", "").Replace(needs.String()) + "]\n"
	at := filepath.Join(dir, fmt.Sprint(id))
	return errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, "uv.lock"), []byte(lock), 0o644), os.WriteFile(filepath.Join(at, "pyproject.toml"), []byte(project), 0o644))
}

// writePipeline writes the text of a pipeline into a folder that it returns.
func writePipeline(dir, name, text string) (string, error) {
	at := filepath.Join(dir, name)
	return at, errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, "pipelines.hcl"), []byte(text), 0o644))
}

// runEnvironment measures what environments add to commands.
func runEnvironment(args []string) (sample, error) {
	program, what := args[0], args[1]
	dir, err := os.MkdirTemp("", "redsi-bench-environment-")
	if err != nil {
		return sample{}, err
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(os.Setenv("REDSI_ENVIRONMENTS", filepath.Join(dir, "environments")), os.Setenv("PATH", dir+":"+os.Getenv("PATH"))); err != nil {
		return sample{}, err
	}
	if what == "plan" {
		return planEnvironments(program, dir)
	}
	const steps, packages, files = 200, 50, 100
	const least = 1e-4 // s a step: less cannot be told from the machine's own noise
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "uv"), []byte(installer(packages, files)), 0o755), writeLock(dir, 0, packages, 1)); err != nil {
		return sample{}, err
	}
	run := func(name, within, argv string, n int) (float64, error) {
		text := fmt.Sprintf("environment \"py\" { uv = \"../0/uv.lock\" }\nstep \"command\" \"s\" {\n  for_each = toset([for i in range(%d) : tostring(i)])\n  argv = [%q, \"-c\", \": ${each.key}\"]\n%s}\n", n, argv, within)
		at, err := writePipeline(dir, name, text)
		if err != nil {
			return 0, err
		}
		s, err := runAll(at, program, []string{"run", "--log-level", "warn"})
		return s.Seconds, err
	}
	const within = "  environment = environment.py\n"
	if _, err := run("made", within, "python", 1); err != nil {
		return sample{}, err
	}
	var more []float64
	for i := range 5 {
		without, err := run(fmt.Sprint("without", i), "", "sh", steps)
		if err != nil {
			return sample{}, err
		}
		with, err := run(fmt.Sprint("with", i), within, "python", steps)
		if err != nil {
			return sample{}, err
		}
		more = append(more, with-without)
	}
	return sample{Seconds: max(median(more), least*steps), Work: steps}, nil
}

// installer is a stand-in for uv: its environment has a shell for a Python.
func installer(packages, files int) string {
	return fmt.Sprintf(`#!/bin/sh
d=$UV_PROJECT_ENVIRONMENT; s=$d/lib/python3.11/site-packages; mkdir -p $d/bin $s; ln -s /bin/sh $d/bin/python
printf 'home = /usr/bin\nversion_info = 3.11.0\n' > $d/pyvenv.cfg
i=0; while [ $i -lt %d ]; do
  n=$s/p$i; m=$s/p$i-1.0.dist-info; mkdir $n $m; echo "Name: p$i" > $m/METADATA; j=0
  while [ $j -lt %d ]; do echo > $n/m$j.py; echo "p$i/m$j.py,sha256=AbpHGcgLb-kRsJGnwFEktk7uzpZOCcBY74-YBdrKVGs,1" >> $m/RECORD.new; j=$((j+1)); done
  mv $m/RECORD.new $m/RECORD; i=$((i+1))
done
`, packages, files)
}

// planEnvironments plans a step in each of ten environments, and the same steps in none.
func planEnvironments(program, dir string) (sample, error) {
	const environments = 10
	with, without := "", ""
	for i := range environments {
		if err := writeLock(dir, i, 100, 20); err != nil {
			return sample{}, err
		}
		block := fmt.Sprintf("step \"command\" \"s%d\" {\n  argv = [\"sh\", \"-c\", \":\"]\n", i)
		with += fmt.Sprintf("environment \"e%d\" { uv = \"../%d/uv.lock\" }\n%s  environment = environment.e%d\n}\n", i, i, block, i)
		without += block + "}\n"
	}
	took := map[string]float64{}
	for name, text := range map[string]string{"with": with, "without": without} {
		at, err := writePipeline(dir, name, text)
		if err != nil {
			return sample{}, err
		}
		var all []float64
		for range 11 {
			c := exec.Command(program, "plan", "--log-level", "warn")
			c.Dir = at
			clock := stopwatch()
			if out, err := c.CombinedOutput(); err != nil {
				return sample{}, fmt.Errorf("%w: %s", err, out)
			}
			all = append(all, clock())
		}
		took[name] = median(all)
	}
	return sample{Seconds: took["with"] - took["without"], Work: 1}, nil
}
