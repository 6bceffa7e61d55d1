package mem_test

import (
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) artifacts.Store { return mem.New() })
}
