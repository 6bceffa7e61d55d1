package cudalib

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/model/tensor/cudagraph"
)

// graphs is the library of package cudagraph for this program and libtorch of this version, or why there is no library.
// It looks in the folder that REDSI_CUDA_GRAPHS names, in the CUDA half's folder, where `make cuda` puts it, and beside
// libtorch, whose libtorch_cpu.so is library, as in an archive.
func graphs(version, half, library string) (path, reason string) {
	asked := os.Getenv("REDSI_CUDA_GRAPHS")
	if asked == "off" {
		return "", "REDSI_CUDA_GRAPHS=off"
	}
	folders := []string{asked, half}
	place := half
	if library != "" {
		part := filepath.Dir(filepath.Dir(library))
		place = filepath.Dir(library)
		if name := filepath.Dir(part); filepath.Base(name) == "libtorch" {
			place = filepath.Join(filepath.Dir(name), "cuda-graphs", cudagraph.Name(version))
		}
		folders = append(folders, place)
	}
	for _, folder := range folders {
		path := filepath.Join(folder, cudagraph.File)
		if _, err := os.Stat(path); folder != "" && err == nil {
			return path, ""
		}
	}
	return "", fmt.Sprintf("there is no %s in %s: make cuda, or name another folder with REDSI_CUDA_GRAPHS", cudagraph.File, place)
}
