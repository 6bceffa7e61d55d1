package step

import (
	"reflect"

	"github.com/redsi/redsi/artifacts"
)

// trajectoryFormat is the format of a trajectory's preimage, which is so that of no result.
const trajectoryFormat = "redsi-trajectory/1"

// Trajectory is the key under which a task's kept states are filed: that of its preimage
// without the attributes that its kind's Trajectory names. Tasks that differ in these alone
// have it in common. ok is false of a task that goes a way of its own.
func (r *Registry) Trajectory(t Task) (key artifacts.Digest, ok bool, err error) {
	spec := r.Lookup(t.Kind)
	if spec == nil || spec.of.Trajectory == nil {
		return key, false, nil
	}
	c, err := spec.config(t)
	if err != nil {
		return key, false, err
	}
	without := spec.of.Trajectory(c)
	if len(without) == 0 {
		return key, false, nil
	}
	config := encodeObject(reflect.ValueOf(c), spec.defaults, spec.Attrs, true)
	for _, name := range without {
		delete(config, name)
	}
	b, err := Canonical(map[string]any{"format": trajectoryFormat, "kind": spec.Name, "version": int64(spec.Version), "config": config})
	if err != nil {
		return key, false, err
	}
	return artifacts.KeyOf(b), true, nil
}
