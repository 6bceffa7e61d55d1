package mem_test

import (
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/mem"
	"github.com/redsi/redsi/artifacts/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) artifacts.Store { return mem.New() })
}
