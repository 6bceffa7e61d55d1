package device

import (
	"regexp"

	"github.com/redsi/redsi/step"
)

var deviceName = regexp.MustCompile(`^(auto|cpu|cuda(:[0-9]+)?)$`)

// Check says what is wrong with a kind's device; whether it is there is for
// the worker that runs the step to say.
func Check(name string) step.Problems {
	if deviceName.MatchString(name) {
		return nil
	}
	return step.Problems{{Path: "device", Detail: "must be auto, cpu, cuda or cuda:N"}}
}
