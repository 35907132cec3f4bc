// Package strictjson reads JSON documents of a fixed shape the way the peer's
// parser does: strictly, by declared keys, without reflection.
//
// It differs from encoding/json where stored documents would be misread or
// silently changed by it:
//
//   - keys are case-sensitive, and a declared key given twice is an error;
//   - null is an error unless the reader of that key allows it;
//   - integers are exact over the whole range of 64 bits; 1.0, 1e3, -0 and "1"
//     are not integers;
//   - an empty text, a byte order mark, text after the document, and the 128th
//     open array or object are errors;
//   - a structure is an object; it is never read from an array.
//
// A document is read by a function that calls one method of [Reader] for each
// value, in the order of the text:
//
//	var keys = strictjson.Keys{{Name: "start", Required: true}, {Name: "end", Required: true}}
//
//	func (s *Span) read(r *strictjson.Reader) error {
//		return r.Object(keys, strictjson.Reject, func(key string) error {
//			switch key {
//			case "start":
//				return r.Int64(&s.Start)
//			default:
//				return r.Int64(&s.End)
//			}
//		})
//	}
//
// Errors name the path of the value and what is wrong with it, in one line of
// bounded length; see [Error].
package strictjson
