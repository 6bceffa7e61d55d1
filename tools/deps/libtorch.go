package main

import (
	"context"
	"regexp"
)

// libtorchFiles says where a wheel's files go; all others stay behind. Of torch/lib, what needs CUDA or Python is
// left out: the CPU libraries load without it.
var libtorchFiles = []rule{
	{regexp.MustCompile(`^torch/(include/.*)$`), nil, "$1"},
	{regexp.MustCompile(`^torch/(lib/lib[^/]*\.(so[.0-9]*|dylib))$`), regexp.MustCompile(`cuda|nvrtc|nvshmem|python|libshm`), "$1"},
	{regexp.MustCompile(`^([^/]*)\.dist-info/(?:licenses/)?(LICENSE|NOTICE|License)(\.txt)?$`), nil, "licenses/$1/$2"},
	{regexp.MustCompile(`^nvidia/.*/(lib/(libcupti|libcudart)\.so[.0-9]*)$`), nil, "$1"},
}

// libtorch fills DIR/include, DIR/lib and DIR/licenses from the wheels that the versions file lists for the platform.
func (o options) libtorch(ctx context.Context, p partPlace, show *progress) error {
	wheels, err := o.wheels("WHEELS_")
	if err != nil {
		return err
	}
	return unpackWheels(ctx, p, show, wheels, libtorchFiles, o.keep)
}
