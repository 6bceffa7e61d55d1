// What `make dist` and `make wheel` need to pack, apart from redsi's own modules.
module github.com/redsi/redsi/tools/dist

go 1.27.4

require (
	github.com/CycloneDX/cyclonedx-go v0.12.0
	github.com/google/licensecheck v0.3.1
	github.com/pelletier/go-toml/v2 v2.4.3
)
