package main

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// policies are those of manylinux: the C library of 2.MINOR, and the symbols of libstdc++ that
// systems with it have, GLIBCXX_3.4.N and CXXABI_1.3.N. `alias` is the name for older pips.
var policies = []struct {
	minor, glibcxx, cxxabi int
	alias                  string
}{
	{5, 8, 1, "manylinux1"}, {12, 13, 3, "manylinux2010"}, {17, 19, 7, "manylinux2014"}, {24, 22, 10, ""}, {27, 24, 11, ""},
	{28, 24, 11, ""}, {31, 28, 12, ""}, {34, 29, 13, ""}, {35, 30, 13, ""}, {39, 33, 15, ""},
}

// fromPolicy are the libraries that every manylinux has.
var fromPolicy = append([]string{"libstdc++.so.6", "libgcc_s.so.1"}, fromSystem...)

// tags are the platforms on which a wheel's programs run, as loose as the programs allow. They
// may load what the package torch has, which the wheel then depends on.
//
// A static program asks nothing of a C library, so it has the tag of the oldest glibc that its
// processor has one for, and of musl. Go wants a Linux of 3.2, which no tag can say.
func tags(programs map[string][]byte, torch bool) ([]string, error) {
	var needs *elfNeeds
	mac := uint32(0)
	for name, data := range programs {
		f, err := elf.NewFile(bytes.NewReader(data))
		if err == nil {
			needs, err = needs.and(f, torch)
		} else if m, machoErr := macho.NewFile(bytes.NewReader(data)); machoErr == nil {
			err = nil
			mac, err = max(mac, oldestMac(m)), onlyARM(m)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	switch {
	case needs != nil && mac == 0:
		return needs.tags()
	case needs == nil && mac != 0:
		return []string{fmt.Sprintf("macosx_%d_0_arm64", (mac+0xffff)>>16)}, nil // from 11 on, installers know no minor one
	}
	return nil, errors.New("the wheel has no programs, or programs of several systems")
}

// elfNeeds is what programs ask of a Linux.
type elfNeeds struct {
	machine                elf.Machine
	dynamic                bool
	glibc, glibcxx, cxxabi int
}

func (n *elfNeeds) and(f *elf.File, torch bool) (*elfNeeds, error) {
	if n == nil {
		n = &elfNeeds{machine: f.Machine}
	}
	if f.Machine != n.machine {
		return nil, fmt.Errorf("it is for %s, another program of the wheel for %s", f.Machine, n.machine)
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return nil, err
	}
	for _, name := range needed {
		n.dynamic = true
		ours := slices.ContainsFunc(fromPolicy, func(p string) bool { return strings.HasPrefix(name, p) })
		theirs := torch && slices.Contains([]string{"libtorch_cpu.so", "libc10.so", "libgomp.so.1"}, name)
		if !ours && !theirs {
			return nil, fmt.Errorf("it loads %s, which no manylinux has: link it statically", name)
		}
	}
	versions, err := f.DynamicVersionNeeds()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	for _, library := range versions {
		for _, v := range library.Needs {
			for format, at := range map[string]*int{"GLIBC_2.%d": &n.glibc, "GLIBCXX_3.4.%d": &n.glibcxx, "CXXABI_1.3.%d": &n.cxxabi} {
				var x int
				if _, err := fmt.Sscanf(v.Dep, format, &x); err == nil {
					*at = max(*at, x)
				}
			}
		}
	}
	return n, nil
}

func (n *elfNeeds) tags() ([]string, error) {
	machine := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}[n.machine]
	if machine == "" {
		return nil, fmt.Errorf("no wheels are made for %s", n.machine)
	}
	for _, p := range policies {
		if machine == "aarch64" && p.minor < 17 || n.glibc > p.minor || n.glibcxx > p.glibcxx || n.cxxabi > p.cxxabi {
			continue
		}
		all := []string{fmt.Sprintf("manylinux_2_%d_%s", p.minor, machine)}
		if p.alias != "" {
			all = append(all, p.alias+"_"+machine)
		}
		if !n.dynamic {
			all = append(all, "musllinux_1_1_"+machine)
		}
		slices.Sort(all)
		return all, nil
	}
	return nil, fmt.Errorf("a program needs GLIBC_2.%d, GLIBCXX_3.4.%d and CXXABI_1.3.%d: newer than any manylinux", n.glibc, n.glibcxx, n.cxxabi)
}

func onlyARM(m *macho.File) error {
	if m.Cpu != macho.CpuArm64 {
		return fmt.Errorf("it is for %s; wheels for macOS are made for arm64", m.Cpu)
	}
	return nil
}

// oldestMac is the oldest macOS that a program runs on, X.Y.Z as the nibbles xxxx.yy.zz: the
// third word of its LC_BUILD_VERSION is the system's, 1, the fourth that.
func oldestMac(m *macho.File) uint32 {
	const buildVersion = 0x32
	for _, l := range m.Loads {
		if raw := l.Raw(); len(raw) >= 16 && m.ByteOrder.Uint32(raw) == buildVersion {
			return m.ByteOrder.Uint32(raw[12:])
		}
	}
	return 0
}
