package payload

import (
	"errors"

	"go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"
)

// ErrorType is the type that an Error has at Temporal.
const ErrorType = "PayloadError"

// DataConverter returns Temporal's own converter with the codec behind it.
func (c Codec) DataConverter() converter.DataConverter {
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
}

// FailureConverter returns Temporal's own converter, which encrypts messages and stack traces if there is a key. An
// Error stays permanent; texts that cannot be read say why.
func (c Codec) FailureConverter() converter.FailureConverter {
	data := c.DataConverter()
	return &failures{data, temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: data, EncodeCommonAttributes: len(c.keys) > 0})}
}

type failures struct {
	data converter.DataConverter
	converter.FailureConverter
}

func (f *failures) ErrorToFailure(err error) *failure.Failure {
	if e, ok := errors.AsType[*Error](err); ok {
		err = temporal.NewNonRetryableApplicationError(e.Error(), ErrorType, nil)
	}
	return f.FailureConverter.ErrorToFailure(err)
}

func (f *failures) FailureToError(x *failure.Failure) error {
	if x != nil {
		x = proto.Clone(x).(*failure.Failure)
	}
	for one := x; one != nil; one = one.Cause {
		if err := f.unreadable(one); err != nil {
			one.Message, one.EncodedAttributes = err.Error(), nil
		}
	}
	return f.FailureConverter.FailureToError(x)
}

// unreadable returns why the texts of a failure cannot be read; nil if they can.
func (f *failures) unreadable(x *failure.Failure) error {
	if x.GetEncodedAttributes() == nil {
		return nil
	}
	var texts map[string]any
	return f.data.FromPayload(x.EncodedAttributes, &texts)
}

// Message returns what a failure at the server says, without its cause.
func (c Codec) Message(x *failure.Failure) string {
	if x == nil {
		return ""
	}
	f := &failures{data: c.DataConverter()}
	if err := f.unreadable(x); err != nil {
		return err.Error()
	}
	x = proto.Clone(x).(*failure.Failure)
	converter.DecodeCommonFailureAttributes(f.data, x)
	return x.GetMessage()
}
