package pipeline

// CheckSyntax is Check.
func CheckSyntax(sources map[string][]byte) Diagnostics { return Check(sources) }
