package main

import (
	"cmp"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// policies are the policies of manylinux: the C library's 2.MINOR, and the symbols of libstdc++ on systems with it,
// GLIBCXX_3.4.N and CXXABI_1.3.N. `alias` is the name for older pips.
var policies = []struct {
	minor, glibcxx, cxxabi int
	alias                  string
}{
	{5, 8, 1, "manylinux1"}, {12, 13, 3, "manylinux2010"}, {17, 19, 7, "manylinux2014"}, {24, 22, 10, ""}, {27, 24, 11, ""},
	{28, 24, 11, ""}, {31, 28, 12, ""}, {34, 29, 13, ""}, {35, 30, 13, ""}, {39, 33, 15, ""},
}

// fromOthers are further libraries that every manylinux has, and libraries of the package torch.
var fromOthers = []string{"libstdc++.so.6", "libgcc_s.so.1", "libtorch_cpu.so", "libc10.so", "libgomp.so.1"}

// tags returns the platforms on which a wheel's programs run, as many as the programs allow.
//
// A static program needs no C library, so it has the tag of the oldest glibc for its processor, and of musl. Go needs a
// Linux of 3.2, which no tag can say.
func tags(platform string, programs []string) ([]string, error) {
	var n needs
	add := n.addLinux
	if strings.HasPrefix(platform, "darwin-") {
		add = n.addMac
	}
	for _, path := range programs {
		if err := add(path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return n.tags()
}

// needs is what programs need of a Linux, or of a macOS: X.Y.Z as the nibbles xxxx.yy.zz.
type needs struct {
	mac                    uint32
	machine                elf.Machine
	dynamic                bool
	glibc, glibcxx, cxxabi int
}

func (n *needs) addLinux(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if n.machine = cmp.Or(n.machine, f.Machine); f.Machine != n.machine {
		return fmt.Errorf("it is for %s, another program of the wheel for %s", f.Machine, n.machine)
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	n.dynamic = n.dynamic || len(libraries) > 0
	for _, name := range libraries {
		if !systemHas(name) && !slices.Contains(fromOthers, name) {
			return fmt.Errorf("it loads %s, which no manylinux has: link it statically", name)
		}
	}
	versions, err := f.DynamicVersionNeeds()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return err
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
	return nil
}

func (n needs) tags() ([]string, error) {
	if n.mac != 0 {
		return []string{fmt.Sprintf("macosx_%d_0_arm64", (n.mac+0xffff)>>16)}, nil // from 11 on, installers know no minor one
	}
	processor := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}[n.machine]
	if processor == "" {
		return nil, fmt.Errorf("no wheels are made for %s", n.machine)
	}
	for _, p := range policies {
		if processor == "aarch64" && p.minor < 17 || n.glibc > p.minor || n.glibcxx > p.glibcxx || n.cxxabi > p.cxxabi {
			continue
		}
		all := []string{fmt.Sprintf("manylinux_2_%d_%s", p.minor, processor)}
		if p.alias != "" {
			all = append(all, p.alias+"_"+processor)
		}
		if !n.dynamic {
			all = append(all, "musllinux_1_1_"+processor)
		}
		slices.Sort(all)
		return all, nil
	}
	return nil, fmt.Errorf("a program needs GLIBC_2.%d, GLIBCXX_3.4.%d and CXXABI_1.3.%d: newer than any manylinux", n.glibc, n.glibcxx, n.cxxabi)
}

// addMac reads a program's LC_BUILD_VERSION, whose fourth word is the oldest system that it runs on.
func (n *needs) addMac(path string) error {
	f, err := macho.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Cpu != macho.CpuArm64 {
		return fmt.Errorf("it is for %s; wheels for macOS are made for arm64", f.Cpu)
	}
	const buildVersion = 0x32
	for _, l := range f.Loads {
		if raw := l.Raw(); len(raw) >= 16 && f.ByteOrder.Uint32(raw) == buildVersion {
			n.mac = max(n.mac, f.ByteOrder.Uint32(raw[12:]))
			return nil
		}
	}
	return errors.New("it does not say which macOS it needs")
}
