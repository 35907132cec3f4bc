package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// confirm asks the person at the terminal to type the id of what is to be changed.
func (c *command) confirm(ctx context.Context, question, id string, refusal error) error {
	if _, err := fmt.Fprint(c.stderr, question); err != nil {
		return err
	}
	answer := make(chan string, 1)
	failed := make(chan error, 1)
	go func() {
		line, err := bufio.NewReader(io.LimitReader(c.stdin, 4096)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			failed <- err
			return
		}
		answer <- strings.TrimSpace(line)
	}()
	select {
	case line := <-answer:
		if line != id {
			return refusal
		}
		return nil
	case err := <-failed:
		return fmt.Errorf("read the confirmation: %w", err)
	case <-ctx.Done():
		return errInterrupted
	}
}
