package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// readVersions reads NAME = VALUE lines, all the syntax of make that tools/versions.mk uses.
func readVersions(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	values := make(map[string]string)
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t:?+$") {
			return nil, fmt.Errorf("%s: %q is not NAME = VALUE", path, line)
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("%s: %s is set twice", path, name)
		}
		values[name] = strings.Join(strings.Fields(value), " ")
	}
	return values, nil
}

// wheel is a file of a package index. Its name has all that pip needs to find it.
type wheel struct {
	sha256       string // 64 hex digits
	file         string // torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl
	distribution string // torch
	version      string // 2.11.0
	platforms    []string
}

// wheelsFor returns the wheels of a variable, such as WHEELS_linux-amd64.
func wheelsFor(values map[string]string, name string) ([]wheel, error) {
	list := strings.Fields(values[name])
	if len(list) == 0 {
		return nil, fmt.Errorf("no wheels are listed: add %s to tools/versions.mk", name)
	}
	var wheels []wheel
	for _, entry := range list {
		w, err := parseWheel(entry)
		if err != nil {
			return nil, err
		}
		wheels = append(wheels, w)
	}
	return wheels, nil
}

// wheels returns the wheels of a variable, for the platform if its name ends in "_", and for another version of
// libtorch if one is asked for.
func (o options) wheels(name string) ([]wheel, error) {
	values, err := readVersions(o.versions)
	if err != nil {
		return nil, err
	}
	if o.torch != "" && o.torch != values["LIBTORCH_VERSION"] && (name == "WHEELS_" || name == "CUDA_") {
		name += o.torch + "_"
	}
	if strings.HasSuffix(name, "_") {
		name += o.platform
	}
	return wheelsFor(values, name)
}

// parseWheel reads SHA256:NAME-VERSION-PYTHON-ABI-PLATFORM[.PLATFORM…].whl.
func parseWheel(entry string) (wheel, error) {
	sum, file, _ := strings.Cut(entry, ":")
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 {
		return wheel{}, fmt.Errorf("%q does not start with a sha256 and a colon", entry)
	}
	stem, isWheel := strings.CutSuffix(file, ".whl")
	fields := strings.Split(stem, "-")
	if !isWheel || len(fields) != 5 || strings.ContainsAny(file, `/\`) {
		return wheel{}, fmt.Errorf("%q is not a wheel's file name", file)
	}
	return wheel{sha256: strings.ToLower(sum), file: file, distribution: strings.ReplaceAll(fields[0], "_", "-"),
		version: fields[1], platforms: strings.Split(fields[4], ".")}, nil
}

// pipOptions returns options of `pip download` that select this wheel whatever the local Python and machine are.
func (w wheel) pipOptions() []string {
	options := []string{"--no-deps", "--only-binary=:all:", "--python-version", "3.11"}
	for _, platform := range w.platforms {
		options = append(options, "--platform", platform)
	}
	return options
}
