package proto_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// contract holds one fact about the wire under each key. A key is the section
// ("message NAME", "enum NAME" or "service NAME"), alone for the fact that the
// section exists, or followed by "/" and a number, "reserved NUMBER" or an RPC.
type contract map[string]string

// readContract reads a contract from a file of testdata, whose head explains
// the format.
func readContract(t *testing.T, name string) contract {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()

	facts := make(contract)
	section := ""
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  "):
			key, fact, _ := strings.Cut(line[2:], " ")
			if key == "reserved" {
				key, fact = line[2:], ""
			}
			facts.add(t, section+"/"+key, fact)
		default:
			section = line
			facts.add(t, section, "")
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return facts
}

// add records a fact; no fact may be given twice.
func (c contract) add(t *testing.T, key, fact string) {
	t.Helper()
	if _, found := c[key]; found {
		t.Fatalf("%s is listed twice", key)
	}
	c[key] = fact
}

// describe returns the contract that compiled .proto files express.
func describe(t *testing.T, files ...protoreflect.FileDescriptor) contract {
	t.Helper()
	facts := make(contract)
	for _, file := range files {
		for i := range file.Messages().Len() {
			facts.addMessage(t, file.Messages().Get(i))
		}
		for i := range file.Enums().Len() {
			facts.addEnum(t, file.Enums().Get(i))
		}
		for i := range file.Services().Len() {
			facts.addService(t, file.Services().Get(i))
		}
		if file.Extensions().Len() != 0 {
			t.Errorf("%s declares proto2 extensions, which the contract does not know", file.Path())
		}
	}
	return facts
}

func (c contract) addMessage(t *testing.T, message protoreflect.MessageDescriptor) {
	t.Helper()
	section := "message " + string(message.FullName())
	c.add(t, section, "")
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		c.add(t, fmt.Sprintf("%s/%d", section, field.Number()),
			fmt.Sprintf("%s %s %s", field.Name(), typeOf(field), labelOf(field)))
	}
	for i := range message.ReservedRanges().Len() {
		reserved := message.ReservedRanges().Get(i)
		for number := reserved[0]; number < reserved[1]; number++ {
			c.add(t, fmt.Sprintf("%s/reserved %d", section, number), "")
		}
	}
	for i := range message.Messages().Len() {
		c.addMessage(t, message.Messages().Get(i))
	}
	for i := range message.Enums().Len() {
		c.addEnum(t, message.Enums().Get(i))
	}
}

func (c contract) addEnum(t *testing.T, enum protoreflect.EnumDescriptor) {
	t.Helper()
	section := "enum " + string(enum.FullName())
	c.add(t, section, "")
	for i := range enum.Values().Len() {
		value := enum.Values().Get(i)
		c.add(t, fmt.Sprintf("%s/%d", section, value.Number()), string(value.Name()))
	}
}

func (c contract) addService(t *testing.T, service protoreflect.ServiceDescriptor) {
	t.Helper()
	section := "service " + string(service.FullName())
	c.add(t, section, "")
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		shape := "unary"
		switch {
		case method.IsStreamingClient():
			shape = "client-stream"
		case method.IsStreamingServer():
			shape = "stream"
		}
		c.add(t, section+"/"+string(method.Name()),
			fmt.Sprintf("%s %s %s", method.Input().FullName(), method.Output().FullName(), shape))
	}
}

// typeOf names the type of a field: a scalar, or the full name of a message or
// enum.
func typeOf(field protoreflect.FieldDescriptor) string {
	switch {
	case field.IsMap():
		return "map"
	case field.Message() != nil:
		return string(field.Message().FullName())
	case field.Enum() != nil:
		return string(field.Enum().FullName())
	default:
		return field.Kind().String()
	}
}

func labelOf(field protoreflect.FieldDescriptor) string {
	switch oneof := field.ContainingOneof(); {
	case oneof != nil && !oneof.IsSynthetic():
		return "oneof"
	case field.HasOptionalKeyword():
		return "optional"
	case field.Cardinality() == protoreflect.Optional:
		return "singular" // what the descriptor calls optional is the proto3 default
	default:
		return field.Cardinality().String()
	}
}
