package pipeline

import (
	"encoding/base64"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/values"
)

// fileFunc is a function that makes a text of a file beside the sources in a folder.
func fileFunc(dir string, of func(dir, name string) (string, error)) function.Function {
	return valueFunc(cty.String, func(args []cty.Value) (cty.Value, error) {
		s, err := of(dir, args[0].AsString())
		return cty.StringVal(s), err
	}, textParam("path"))
}

func (l *loader) filesetFunction(dir string) function.Function {
	return valueFunc(cty.List(cty.String), func(args []cty.Value) (cty.Value, error) {
		names, err := l.listBeside(dir, args[0].AsString(), args[1].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		return gocty.ToCtyValue(append([]string{}, names...), cty.List(cty.String))
	}, textParam("folder"), textParam("pattern"))
}

func (l *loader) templateFunction(dir string) function.Function {
	return valueFunc(cty.String, func(args []cty.Value) (cty.Value, error) {
		s, err := l.render(dir, args[0].AsString(), args[1])
		return cty.StringVal(s), err
	}, textParam("path"), anyParam("vars"))
}

func (l *loader) base64Beside(dir, name string) (string, error) {
	b, err := l.readBeside(dir, name)
	return base64.StdEncoding.EncodeToString(b), err
}

func (l *loader) textBeside(dir, name string) (string, error) {
	b, err := l.readBeside(dir, name)
	if err != nil {
		return "", err
	}
	return checkedText(name, b)
}

// checkedText is the text of a file that expressions can have.
func checkedText(name string, b []byte) (string, error) {
	if at := values.InvalidUTF8(b); at >= 0 {
		return "", fmt.Errorf("%s is not UTF-8 text (byte %d): filebase64() gives its bytes in base64, and as an artifact of a download step it reaches a program as it is", name, at)
	}
	if line := syntax.NotNFC(b); line > 0 {
		return "", fmt.Errorf("line %d of %s is not in Unicode's form NFC, such as a letter with an accent that is a character of its own: save it as NFC, or read it as a step's input, or use filebase64()", line, name)
	}
	return string(b), nil
}
