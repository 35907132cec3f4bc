package idempotency

import (
	"encoding/hex"
	"fmt"

	"holdfast/metastore/internal/strictjson"
)

// AppendJSON appends the record as an object, for stores that keep text:
//
//	{"key":"<UUID>","principal":"<32 hex digits>","operation":"AddSource","resource":"source/…",
//	 "fingerprint":"<64 hex digits>","fingerprint_version":1,"create_timestamp":1764510000,"result":""}
func (r *Record) AppendJSON(dst []byte) []byte {
	w := strictjson.AppendTo(dst).Begin('{')
	w.Key("key").String(r.Key.String())
	w.Key("principal").String(hex.EncodeToString(r.Principal[:]))
	w.Key("operation").String(r.Operation)
	w.Key("resource").String(r.Resource)
	w.Key("fingerprint").String(hex.EncodeToString(r.Fingerprint[:]))
	w.Key("fingerprint_version").Uint64(uint64(r.FingerprintVersion))
	w.Key("create_timestamp").Int64(r.CreateTimestamp)
	w.Key("result").String(r.Result)
	return w.End('}').Bytes()
}

var recordKeys = strictjson.Keys{
	{Name: "key", Required: true},
	{Name: "principal", Required: true},
	{Name: "operation", Required: true},
	{Name: "resource", Required: true},
	{Name: "fingerprint", Required: true},
	{Name: "fingerprint_version", Required: true},
	{Name: "create_timestamp", Required: true},
	{Name: "result", Required: true},
}

// Read reads what AppendJSON writes.
func (r *Record) Read(reader *strictjson.Reader) error {
	return reader.Object(recordKeys, strictjson.Reject, func(name string) error {
		switch name {
		case "key":
			var text string
			if err := reader.String(&text); err != nil {
				return err
			}
			key, err := ParseKey(text)
			r.Key = key
			return err
		case "principal":
			return readHex(reader, r.Principal[:])
		case "operation":
			return reader.String(&r.Operation)
		case "resource":
			return reader.String(&r.Resource)
		case "fingerprint":
			return readHex(reader, r.Fingerprint[:])
		case "fingerprint_version":
			var version uint32
			err := reader.Uint32(&version)
			r.FingerprintVersion = int(version)
			return err
		case "create_timestamp":
			return reader.Int64(&r.CreateTimestamp)
		default: // result
			return reader.String(&r.Result)
		}
	})
}

func readHex(reader *strictjson.Reader, into []byte) error {
	var text string
	if err := reader.String(&text); err != nil {
		return err
	}
	if len(text) != hex.EncodedLen(len(into)) {
		return fmt.Errorf("must have %d hexadecimal digits, has %d characters", hex.EncodedLen(len(into)), len(text))
	}
	_, err := hex.Decode(into, []byte(text))
	return err
}
