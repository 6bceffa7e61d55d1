package main

import (
	"context"
	_ "embed"
	"regexp"
)

// libtorch fills DIR/include, DIR/lib and DIR/licenses from the wheels that the versions file lists for the platform.
type libtorch struct {
	versions, platform string
	keep               string // a distribution whose wheel stays: a part that is installed next takes it
}

// libtorchFiles says where a wheel's files go; all others stay behind. Of torch/lib, what needs CUDA or Python is
// left out: the CPU libraries load without it.
var libtorchFiles = []rule{
	{regexp.MustCompile(`^torch/(include/.*)$`), nil, "$1"},
	{regexp.MustCompile(`^torch/(lib/lib[^/]*\.(so[.0-9]*|dylib))$`), regexp.MustCompile(`cuda|nvrtc|nvshmem|python|libshm`), "$1"},
	{regexp.MustCompile(`^([^/]*)\.dist-info/(?:licenses/)?(LICENSE|NOTICE|License)(\.txt)?$`), nil, "licenses/$1/$2"},
	{regexp.MustCompile(`^nvidia/.*/(lib/(libcupti|libcudart)\.so[.0-9]*)$`), nil, "$1"},
}

func (l libtorch) build(ctx context.Context, p partPlace, show *progress) error {
	wheels, err := wheelsIn(l.versions, "WHEELS_"+l.platform)
	if err != nil {
		return err
	}
	return unpackWheels(ctx, p, show, wheels, libtorchFiles, l.keep)
}
