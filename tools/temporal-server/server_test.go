package main

import (
	"fmt"
	"testing"

	"go.temporal.io/server/common/dynamicconfig"
)

// TestTuning: Temporal knows each setting by its name, and takes its value.
func TestTuning(t *testing.T) {
	text := ""
	for name, value := range tuning {
		text += fmt.Sprintf("%s: [{value: %v}]\n", name, value)
	}
	if loaded := dynamicconfig.LoadYamlFile([]byte(text)); len(loaded.Map) != len(tuning) || len(loaded.Errors)+len(loaded.Warnings) > 0 {
		t.Error(loaded.Map, loaded.Errors, loaded.Warnings)
	}
	if loaded := dynamicconfig.LoadYamlFile([]byte("matching.useSomeMatcher: [{value: true}]")); len(loaded.Warnings) == 0 {
		t.Error("an unknown setting is taken")
	}
}
