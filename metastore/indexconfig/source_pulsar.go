package indexconfig

import (
	"fmt"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

var pulsarKeys = strictjson.Keys{{Name: "topics", Required: true}, {Name: "address", Required: true}, {Name: "consumer_name"}, {Name: "authentication"}}

func pulsarParams(r *strictjson.Reader, w *strictjson.Writer) error {
	var (
		topics         []string
		address        string
		authentication *[]byte
		consumer       = "quickwit"
	)
	err := r.Object(pulsarKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "topics":
			return strictjson.List(r, &topics, r.String)
		case "address":
			if err := r.String(&address); err != nil {
				return err
			}
			if !strings.Contains(address, "pulsar://") && !strings.Contains(address, "pulsar+ssl://") {
				return fmt.Errorf("%s must be of the form pulsar://host:port or pulsar+ssl://host:port", strictjson.Quote(address))
			}
			return nil
		case "consumer_name":
			return r.String(&consumer)
		default:
			return strictjson.Optional(r, &authentication, func(text *[]byte) error { return readPulsarAuthentication(r, text) })
		}
	})
	w.Begin('{').Key("topics").Strings(topics).Key("address").String(address).Key("consumer_name").String(consumer).Key("authentication")
	if authentication == nil {
		w.Null()
	} else {
		w.Raw(*authentication)
	}
	w.End('}')
	return err
}

var (
	pulsarAuthenticationKeys = strictjson.Keys{{Name: "token"}, {Name: "oauth2"}}
	oauth2Keys               = strictjson.Keys{{Name: "issuer_url", Required: true}, {Name: "credentials_url", Required: true}, {Name: "audience"}, {Name: "scope"}}
)

// readPulsarAuthentication reads an object of exactly one key, which names the
// method, into its canonical form.
func readPulsarAuthentication(r *strictjson.Reader, into *[]byte) error {
	w := strictjson.AppendTo(nil)
	methods := 0
	w.Begin('{')
	err := r.Object(pulsarAuthenticationKeys, strictjson.Reject, func(key string) error {
		methods++
		w.Key(key)
		if key == "token" {
			var token string
			err := r.String(&token)
			w.String(token)
			return err
		}
		return oauth2(r, w)
	})
	w.End('}')
	if err == nil && methods != 1 {
		err = fmt.Errorf("must name one method, token or oauth2, not %d", methods)
	}
	*into = w.Bytes()
	return err
}

func oauth2(r *strictjson.Reader, w *strictjson.Writer) error {
	var (
		issuer, credentials string
		audience, scope     *string
	)
	err := r.Object(oauth2Keys, strictjson.Reject, func(key string) error {
		switch key {
		case "issuer_url":
			return r.String(&issuer)
		case "credentials_url":
			return r.String(&credentials)
		case "audience":
			return strictjson.Optional(r, &audience, r.String)
		default:
			return strictjson.Optional(r, &scope, r.String)
		}
	})
	w.Begin('{').Key("issuer_url").String(issuer).Key("credentials_url").String(credentials)
	w.Key("audience").OptionalString(audience).Key("scope").OptionalString(scope).End('}')
	return err
}
