package artifacts

import (
	"bytes"
	"strconv"
)

// KeyFormat names the form of a key's preimage. It changes only together with
// every key; docs/formats.md says how.
const KeyFormat = keyFormats + "1"

// keyFormats begins the names of all formats of keys.
const keyFormats = "redsi-key/"

// KeyOf is the key that a preimage gives: the SHA-256 of the frame
// "redsi-key/1 <length of preimage>\n" and the preimage.
func KeyOf(preimage []byte) Digest {
	b := make([]byte, 0, len(KeyFormat)+len(preimage)+24)
	b = append(append(b, KeyFormat...), ' ')
	b = append(strconv.AppendInt(b, int64(len(preimage)), 10), '\n')
	return Sum(append(b, preimage...))
}

// jsonEscapes are what encoding/json escapes in a RawMessage and a preimage does not.
var jsonEscapes = map[string]string{"003c": "<", "003e": ">", "0026": "&", "2028": "\u2028", "2029": "\u2029"}

// canonical undoes what encoding/json did to a preimage in a record.
func canonical(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\u`)) {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		if b[i+1] == 'u' && i+6 <= len(b) {
			if c, ok := jsonEscapes[string(b[i+2:i+6])]; ok {
				out = append(out, c...)
				i += 5
				continue
			}
		}
		out = append(out, b[i], b[i+1])
		i++
	}
	return out
}
