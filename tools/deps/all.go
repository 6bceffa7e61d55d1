package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// order is the order in which parts start: the longest first.
var order = []string{"temporal-server", "tokenizers", "minio", "versitygw", "uv", "seaweedfs", "temporal"}

// installAll installs the missing parts, o.jobs at a time. libtorch, which is downloaded, and gotch, whose one large
// file keeps a core busy longest, start at once. CUDA's parts are downloaded after libtorch, whose wheel or headers
// they take too, while gotch is compiled. A part that fails does not end o.first, whose failure ends the parts.
func installAll(ctx context.Context, o options, b *board) error {
	var missing []string
	for _, name := range append([]string{"libtorch", "cuda-kernels", "cuda", "cuda-graphs", "gotch"}, order...) {
		if dir, asked := o.dirs[name]; asked && !complete(dir) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if takesWheel(o, missing) {
		o.keep = "torch"
	}
	announce(b, o, missing)
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg     sync.WaitGroup
		once   sync.Once
		failed error // the first; its message is not delayed by the other parts
		free   = make(chan struct{}, o.jobs)
	)
	try := func(err error) bool {
		if err != nil {
			once.Do(func() { failed = err })
			cancel()
		}
		return err == nil
	}
	part := func(name string) bool {
		return !slices.Contains(missing, name) || try(install(within, name, o.dirs[name], b.part(name), builders(o)[name]))
	}
	if o.first != "" {
		b.hold()
		wg.Go(func() {
			try(runFirst(o.first))
			b.release()
		})
	}
	wg.Go(func() {
		if !part("libtorch") {
			return
		}
		wg.Go(func() { _ = part("cuda-kernels") && part("cuda") && part("cuda-graphs") })
		if part("gotch") && slices.Contains(missing, "gotch") && complete(o.dirs["libtorch"]) {
			// Into Go's build cache, where redsi's build finds it.
			compile := exec.Command("go", "build", "-v", "github.com/sugarme/gotch/libtch")
			try(runShown(within, partPlace{}, b.part("gotch"), "compiling its C++", compile, nil))
		}
	})
	for _, name := range order {
		wg.Go(func() {
			select {
			case free <- struct{}{}:
				part(name)
				<-free
			case <-within.Done():
			}
		})
	}
	wg.Wait()
	if failed == nil {
		return ctx.Err()
	}
	return failed
}

// takesWheel reports whether a part of CUDA's is missing and cannot take libtorch's half from the other part.
func takesWheel(o options, missing []string) bool {
	for name, other := range map[string]string{"cuda": "cuda-kernels", "cuda-kernels": "cuda"} {
		if slices.Contains(missing, name) {
			return !complete(partPlace{dir: o.dirs[name]}.sibling(other))
		}
	}
	return false
}

// announce says what will be installed, where, how long that takes and how large it is.
func announce(b *board, o options, missing []string) {
	cost := costOf(missing, o.keep == "")
	b.line("installing %s", enumerate(missing))
	caches := ""
	if cost.caches > 0 {
		caches = fmt.Sprintf("; the caches of Go and cargo take %s more", megabytes(cost.caches))
	}
	b.line("  into %s, for all clones: %s%s", filepath.Dir(filepath.Dir(o.dirs[missing[0]])), megabytes(cost.disk), caches)
	cores := runtime.GOMAXPROCS(0)
	took := cost.cpu / time.Duration(min(cores, 4)) // it keeps at most four busy
	b.line("  %s of downloads; %s on these %d cores, when they do nothing else", megabytes(cost.download), about(took), cores)
	if cost.download >= 1e9 {
		b.line("  at 10 MB a second the downloads take %s; their files lie beside the parts until they are unpacked",
			about(time.Duration(float64(cost.download)/slowLine*float64(time.Second))))
	}
}
