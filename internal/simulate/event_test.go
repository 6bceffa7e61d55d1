package simulate

import (
	"strings"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// attributesOf has the field of an event for each type of attributes.
var attributesOf = func() map[protoreflect.FullName]protoreflect.FieldDescriptor {
	all := map[protoreflect.FullName]protoreflect.FieldDescriptor{}
	fields := new(history.HistoryEvent).ProtoReflect().Descriptor().Oneofs().ByName("attributes").Fields()
	for i := range fields.Len() {
		all[fields.Get(i).Message().FullName()] = fields.Get(i)
	}
	return all
}()

// event is the event that has such attributes.
func event(attributes proto.Message) *history.HistoryEvent {
	v := new(history.HistoryEvent)
	field := attributesOf[attributes.ProtoReflect().Descriptor().FullName()]
	v.ProtoReflect().Set(field, protoreflect.ValueOfMessage(attributes.ProtoReflect()))
	v.EventType = enums.EventType(enums.EventType_value["EVENT_TYPE_"+strings.ToUpper(strings.TrimSuffix(string(field.Name()), "_event_attributes"))])
	return v
}
