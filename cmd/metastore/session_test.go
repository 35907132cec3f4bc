package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// session is a server with the index of the fixture, whose answers to commands are held by golden files.
type session struct {
	*server
	directory string // of the golden files
	normalizer
	count int
}

func newSession(t *testing.T, directory string) *session {
	t.Helper()
	start := time.Now().Add(-time.Minute)
	s := withWebAccess(t)
	uid := regexp.MustCompile(`web-access:\w{26}`).FindString(s.ok(t, "index", "describe", "web-access"))
	return &session{
		server:     s,
		directory:  filepath.Join("testdata", "golden", directory),
		normalizer: normalizer{server: s.grpc, start: start, incarnation: strings.TrimPrefix(uid, "web-access:")},
	}
}

// play runs commands one after the other.
func (s *session) play(t *testing.T, commands ...[]string) {
	t.Helper()
	for _, args := range commands {
		s.count++
		r := s.server.run(t, args...)
		name := fmt.Sprintf("%02d-%s.txt", s.count, strings.Join(args[:min(2, len(args))], "-"))
		checkGolden(t, filepath.Join(s.directory, name), s.clean(fmt.Sprintf("$ metastore %s\n%sexit status %d\n", strings.Join(args, " "), r.stdout+r.stderr, r.status)))
	}
}

// checkHelp compares the help texts of commands with their golden files.
func checkHelp(t *testing.T, commands ...string) {
	t.Helper()
	for _, path := range commands {
		r := execute(t, &system{}, append(strings.Fields(path), "--help")...)
		checkGolden(t, filepath.Join("testdata", "golden", "help", strings.ReplaceAll("metastore "+path, " ", "-")+".txt"), r.stdout)
	}
}
