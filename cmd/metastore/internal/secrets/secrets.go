// Package secrets keeps passwords and keys out of what the command prints.
package secrets

import (
	"bytes"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Mask stands in the place of a secret.
const Mask = "xxxxx"

// minLength is the length below which a secret is not looked for in running text, because it would
// be found in innocent words. MaskURL masks secrets of any length.
const minLength = 4

// secretName reports whether a parameter of a URL or a DSN is a secret by its name.
func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"password", "passwd", "passfile", "secret", "token", "access_key", "accesskey", "access-key", "account_key", "accountkey", "credential", "signature"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return slices.Contains([]string{"key", "sig", "pwd", "sas"}, name)
}

// MaskURL returns a store URL or a PostgreSQL DSN in key=value form with its secrets masked. A text
// that cannot be read is masked as a whole behind its scheme.
func MaskURL(text string) string {
	masked, _ := split(text)
	return masked
}

// Find returns the secrets in a store URL or DSN, as they are written there and decoded.
func Find(text string) []string {
	_, found := split(text)
	return found
}

func split(text string) (masked string, found []string) {
	if !strings.Contains(text, "://") {
		return splitDSN(text)
	}
	parsed, err := url.Parse(text)
	if err != nil {
		scheme, rest, _ := strings.Cut(text, "://")
		return scheme + "://" + Mask, []string{rest}
	}
	if password, has := parsed.User.Password(); has {
		found = append(found, password)
		if user := text[:max(strings.LastIndex(text, "@"), 0)]; user != "" {
			found = append(found, user[strings.LastIndex(user, ":")+1:])
		}
		parsed.User = url.UserPassword(parsed.User.Username(), Mask)
	}
	pairs := strings.Split(parsed.RawQuery, "&")
	for i, pair := range pairs {
		name, value, has := strings.Cut(pair, "=")
		if !has || !secretName(name) {
			continue
		}
		found = append(found, value)
		if decoded, err := url.QueryUnescape(value); err == nil {
			found = append(found, decoded)
		}
		pairs[i] = name + "=" + Mask
	}
	parsed.RawQuery = strings.Join(pairs, "&")
	return parsed.String(), found
}

func splitDSN(text string) (masked string, found []string) {
	pair := regexp.MustCompile(`([A-Za-z_]+)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s']+)`)
	masked = pair.ReplaceAllStringFunc(text, func(match string) string {
		parts := pair.FindStringSubmatch(match)
		if !secretName(parts[1]) {
			return match
		}
		found = append(found, strings.Trim(parts[2], "'"))
		return parts[1] + "=" + Mask
	})
	return masked, found
}

// NewWriter returns a writer that masks the secrets in what is written to it. A secret that is cut
// in two by separate writes is not found, so write whole lines.
func NewWriter(to io.Writer, secrets []string) io.Writer {
	var wanted [][]byte
	for _, secret := range secrets {
		if len(secret) >= minLength {
			wanted = append(wanted, []byte(secret))
		}
	}
	if len(wanted) == 0 {
		return to
	}
	// Longest first, so that a secret that holds another one is masked as a whole.
	slices.SortFunc(wanted, func(a, b []byte) int { return len(b) - len(a) })
	return &writer{to: to, secrets: wanted}
}

type writer struct {
	to      io.Writer
	secrets [][]byte
}

// Write implements io.Writer.
func (w *writer) Write(line []byte) (int, error) {
	masked := line
	for _, secret := range w.secrets {
		masked = bytes.ReplaceAll(masked, secret, []byte(Mask))
	}
	if _, err := w.to.Write(masked); err != nil {
		return 0, err
	}
	return len(line), nil
}
