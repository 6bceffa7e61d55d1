package doctor

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/system/words"
)

// Models checks the program that computes models: what it found, or why it gives no answer, and the kinds that need it.
func Models(program string, facts device.Facts, err error, kinds []string) []Finding {
	f := Finding{What: "models", Soft: true}
	if err != nil {
		f.Note = fmt.Sprintf("%v; kinds that need it: %s", err, strings.Join(kinds, ", "))
		return []Finding{f} // which looks for cards
	}
	f.OK, f.Note = true, fmt.Sprintf("%s, libtorch %s with %s; devices: %s", program, facts.Libtorch, facts.Instructions, facts.Devices())
	if !strings.HasPrefix(facts.Instructions, "AVX") && runtime.GOARCH == "amd64" {
		f.Note += "; without AVX2 models compute slower, on the CPU: redsi doctor --rates measures how fast"
	}
	return append([]Finding{f}, cardFindings(facts.Machine, facts)...)
}

// cardFindings checks a machine's GPUs, their driver, and libtorch's libraries for them.
func cardFindings(m nvidia.Machine, facts device.Facts) []Finding {
	const elsewhere = `; steps with device = "auto" run on the CPU`
	if len(m.Cards) == 0 {
		f := Finding{What: "GPU", OK: m.Driver == "" && strings.HasPrefix(m.Why, "no NVIDIA driver"), Soft: true, Note: "none: " + m.Why + elsewhere}
		if !f.OK {
			f.Do = "check the driver with nvidia-smi; after a driver update, restart the machine"
		}
		return []Finding{f}
	}
	p, cuda := facts.Process, facts.CUDA
	driver := Finding{What: "GPU driver", OK: true, Soft: true, Note: fmt.Sprintf("%s, for CUDA up to %s", m.Driver, m.CUDA)}
	if why := device.DriverFor(m.CUDA); why != "" {
		driver.OK, driver.Note, driver.Do = false, m.Driver+": "+why, "install a newer driver: the system's packages, or NVIDIA's"
	} else if p.Why != "" {
		driver.OK, driver.Note, driver.Do = false, driver.Note+"; "+p.Why, whatToDo(p.Why)
	}
	found := []Finding{driver}
	for i, c := range m.Cards {
		found = append(found, cardFinding(i, c, p))
	}
	half := Finding{What: "GPU libraries", OK: cuda.Cards > 0, Soft: true}
	if half.OK {
		half.Note = fmt.Sprintf("libtorch's CUDA libraries in %s are loaded, with CUDA %s; this process may use %s", cuda.Folder, cuda.Runtime, words.Count(cuda.Cards, "card"))
	} else {
		half.Note, half.Do = cuda.Why+elsewhere, whatToDo(cuda.Why)
	}
	found = append(found, half)
	if half.OK {
		found = append(found, graphsFinding(cuda))
	}
	return found
}

func graphsFinding(cuda device.CUDA) Finding {
	if cuda.Graphs != "" {
		return Finding{What: "GPU graphs", OK: true, Soft: true, Note: "steps with the same shapes are recorded once and replayed: " + cuda.Graphs}
	}
	f := Finding{What: "GPU graphs", Soft: true, Note: cuda.WhyNoGraphs + "; training launches each operation separately, which is slower"}
	switch {
	case strings.Contains(cuda.WhyNoGraphs, "=off"):
		f.Do = "unset REDSI_CUDA_GRAPHS"
	case strings.Contains(cuda.WhyNoGraphs, "does not load"):
		f.Do = "remove that file, then make cuda"
	default:
		f.Do = "make cuda, or an archive of make dist"
	}
	return f
}

// cardFinding is one of the machine's GPUs, with its number in this process.
func cardFinding(i int, c nvidia.Card, p nvidia.Process) Finding {
	f := Finding{What: fmt.Sprintf("GPU %d", i), OK: true, Soft: true, Card: &c}
	note := []string{c.Name}
	if c.Memory > 0 {
		note = append(note, fmt.Sprintf("%s, of which %s are free", words.Size(c.Memory), words.Size(c.Free)))
	}
	if c.Capability != (nvidia.Version{}) {
		note = append(note, "compute capability "+c.Capability.String())
	}
	note = append(note, c.UUID)
	if len(p.Cards) > 0 {
		number := "not assigned to this process, or only partly (MIG)"
		if os.Getenv("CUDA_VISIBLE_DEVICES") != "" {
			number = "hidden from this process by CUDA_VISIBLE_DEVICES"
		}
		if n := slices.IndexFunc(p.Cards, func(own nvidia.Card) bool { return own.UUID == c.UUID }); n >= 0 {
			number = fmt.Sprintf("cuda:%d", n)
		}
		note = append(note, number)
	}
	f.Note = strings.Join(note, ", ")
	if why := device.Supported(c.Capability); why != "" {
		f.OK, f.Note, f.Do = false, f.Note+"; "+why, "use another GPU, or the CPU: device = \"cpu\""
	}
	return f
}

func whatToDo(why string) string {
	switch {
	case strings.Contains(why, "CUDA_VISIBLE_DEVICES"):
		return "unset CUDA_VISIBLE_DEVICES, or list GPUs in it"
	case strings.Contains(why, "make cuda"):
		return "make cuda, which says first how much it downloads"
	case strings.Contains(why, "pip install"):
		return "install that torch, some 3 GB to download"
	case strings.Contains(why, "REDSI_CUDA"):
		return "unset REDSI_CUDA, or set it to a folder with these libraries"
	}
	return "check the driver with nvidia-smi"
}
