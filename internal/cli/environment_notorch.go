//go:build notorch

package cli

import "github.com/redsi/redsi/internal/usage"

// libtorch is the version that this program computes with, and devices what it finds.
func libtorch() (version, devices string) { return "none", "none" }

// cards are those whose memory this program knows of: none, as it computes on none.
func cards() usage.Cards { return usage.Cards{} }
