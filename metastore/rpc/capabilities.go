package rpc

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/proto/extensionpb"
)

// ErrCreateOnlyUnsupported says that a server, or a proxy on the way to it, does not know create-only
// staging; no existing row was changed. It must be upgraded before rows can be staged create-only,
// because staging them in the ordinary way would overwrite rows that are there.
var ErrCreateOnlyUnsupported = errors.New("the server, or a proxy before it, does not support create-only staging: upgrade it, ordinary staging would overwrite existing rows")

// Capabilities is what a server offers beyond the peer's contract.
type Capabilities struct {
	// ServerVersion is for people and logs.
	ServerVersion string
	// Versions maps the name of an extension to the versions of it that the server understands.
	Versions map[string][]uint32
	// IdempotencyKeyLifetime is how long the server remembers an idempotency key. 0 means that it does
	// not take any.
	IdempotencyKeyLifetime time.Duration
	// IdempotencyKeyRPCs are the RPCs whose idempotency keys the server honours, such as "CreateDeleteTask". Nil beside a
	// lifetime means all that change something: the server is one that does not list them.
	IdempotencyKeyRPCs []string
	// IdempotencyKeyScope is within what the server finds that a key was used for another call. Empty means that it
	// takes none, or does not tell.
	IdempotencyKeyScope idempotency.Scope
}

// keyLifetime is how long the server remembers the keys of an RPC, 0 if it does not honour them.
func (c Capabilities) keyLifetime(operation string) time.Duration {
	if !c.Has(capabilityIdempotency, capabilityIdempotencyVersion) ||
		len(c.IdempotencyKeyRPCs) > 0 && !slices.Contains(c.IdempotencyKeyRPCs, operation) {
		return 0
	}
	return c.IdempotencyKeyLifetime
}

// Has reports whether the server understands this version of the extension.
func (c Capabilities) Has(name string, version uint32) bool {
	for _, v := range c.Versions[name] {
		if v == version {
			return true
		}
	}
	return false
}

// Capabilities asks the server what it offers. A server without extensions, such as a peer, gives
// the zero value.
func (c *Client) Capabilities(ctx context.Context) (Capabilities, error) {
	response, err := c.extension.GetCapabilities(ctx, &extensionpb.GetCapabilitiesRequest{}, repeatable)
	if isUnimplemented(err) {
		return Capabilities{}, nil
	}
	if err != nil {
		return Capabilities{}, callError(ctx, "get the server's capabilities", err)
	}
	capabilities := Capabilities{
		ServerVersion:          response.GetServerVersion(),
		Versions:               map[string][]uint32{},
		IdempotencyKeyLifetime: time.Duration(response.GetIdempotencyKeyLifetimeSeconds()) * time.Second,
		IdempotencyKeyRPCs:     response.GetIdempotencyKeyRpcs(),
		IdempotencyKeyScope:    idempotency.Scope(response.GetIdempotencyKeyScope()),
	}
	for _, capability := range response.GetCapabilities() {
		capabilities.Versions[capability.GetName()] = append(capabilities.Versions[capability.GetName()], capability.GetVersion())
	}
	return capabilities, nil
}

// offered returns what the server said that it offers. The answer holds for as long as no connection is opened
// or lost, because another connection may reach another server.
func (c *Client) offered(ctx context.Context) (Capabilities, error) {
	before := c.connections.changes.Load()
	if known := c.known.Load(); known != nil && known.changes == before {
		return known.Capabilities, nil
	}
	capabilities, err := c.Capabilities(ctx)
	if err != nil {
		return Capabilities{}, err
	}
	// If a connection changed meanwhile, it is unknown which one answered: ask again next time.
	if c.connections.changes.Load() == before {
		c.known.Store(&knownCapabilities{changes: before, Capabilities: capabilities})
	}
	return capabilities, nil
}

// knownCapabilities is what a server said when so many connections had been opened or lost.
type knownCapabilities struct {
	changes uint64
	Capabilities
}

// requireCreateOnly fails unless the server says that it knows create-only staging. That is a courtesy, to
// fail early and clearly: when a connection changes right after it, the form of the request and the
// acknowledgement in the answer still keep a server without create-only from overwriting rows.
func (c *Client) requireCreateOnly(ctx context.Context) error {
	capabilities, err := c.offered(ctx)
	if err != nil {
		return err
	}
	if !capabilities.Has(capabilityCreateOnly, capabilityCreateOnlyVersion) {
		return createOnlyUnsupported("it does not offer the capability create_only/1; no row was sent")
	}
	return nil
}

// createOnlyUnsupported is for servers that have surely written nothing.
func createOnlyUnsupported(how string) error {
	return metastore.Unsupported(ErrCreateOnlyUnsupported, "stage splits create-only: %s", how)
}

// createOnlyUnconfirmed is for an answer that may have lost its confirmation on the way: absent splits may
// have been staged.
func createOnlyUnconfirmed() error {
	return metastore.Internal(ErrCreateOnlyUnsupported, "stage splits create-only: the answer does not confirm it")
}

func isUnimplemented(err error) bool {
	return err != nil && status.Code(err) == codes.Unimplemented
}
