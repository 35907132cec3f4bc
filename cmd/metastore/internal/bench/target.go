package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"holdfast/metastore"
	"holdfast/proto/commonpb"
	"holdfast/proto/extensionpb"
	"holdfast/proto/metastorepb"
)

const (
	maxMessage     = 64 << 20
	prepareBatch   = 1000
	prepareWorkers = 4
	cleanupTime    = time.Minute
)

// target is one server with the index of the run in it.
type target struct {
	address   string
	options   *Options
	clients   []*client
	indexUID  *commonpb.IndexUid
	uid       metastore.IndexUID
	generator *generator
	// nextNew is the number of the next split that was never staged, nextOld of the next batch that
	// was staged before the clock started, both shared by the clients.
	nextNew, nextOld atomic.Uint64
	callsLeft        atomic.Int64
	elapsed          time.Duration
	exhausted        atomic.Bool
}

// client is one connection to a target.
type client struct {
	connection *grpc.ClientConn
	metastore  metastorepb.MetastoreServiceClient
	stats      map[string]*stats
	// step and batch are the place of this client in the life of its batch, in the mixed scenario.
	step  int
	batch uint64
}

// open connects to the target and prepares its index. If it fails nothing is left open.
func open(ctx context.Context, address string, seed uint64, options *Options) (_ *target, err error) {
	t := &target{address: address, options: options}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("target %s: %w", address, err), t.close(ctx))
		}
	}()
	for range options.Clients {
		connection, err := grpc.NewClient(address,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
		if err != nil {
			return t, err
		}
		t.clients = append(t.clients, &client{
			connection: connection,
			metastore:  metastorepb.NewMetastoreServiceClient(connection),
			stats:      make(map[string]*stats),
		})
	}
	if options.Scenario == CreateOnly {
		if err := t.requireCreateOnly(ctx); err != nil {
			return t, err
		}
	}
	if err := t.createIndex(ctx); err != nil {
		return t, err
	}
	t.generator = newGenerator(seed, time.Now(), t.uid.String())
	t.nextNew.Store(uint64(options.Splits))
	if options.Calls > 0 {
		t.callsLeft.Store(int64(options.Calls))
	} else {
		t.callsLeft.Store(1 << 62)
	}
	return t, t.prepare(ctx)
}

// requireCreateOnly fails on a server that would not understand the calls of the scenario.
func (t *target) requireCreateOnly(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.options.CallTimeout)
	defer cancel()
	answer, err := extensionpb.NewExtensionServiceClient(t.clients[0].connection).
		GetCapabilities(ctx, &extensionpb.GetCapabilitiesRequest{})
	if err != nil && status.Code(err) != codes.Unimplemented {
		return fmt.Errorf("ask for capabilities: %w", err)
	}
	for _, capability := range answer.GetCapabilities() {
		if capability.GetName() == "create_only" && capability.GetVersion() == 1 {
			return nil
		}
	}
	return errors.New("the server does not offer create_only/1, which scenario create-only needs")
}

func (t *target) createIndex(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.options.CallTimeout)
	defer cancel()
	id := t.options.IndexPrefix + ulid.Make().String()
	config := fmt.Sprintf(`{"version":"0.9","index_id":%q,"index_uri":"ram:///bench/%s",`+
		`"doc_mapping":{"field_mappings":[{"name":"at","type":"datetime","fast":true},{"name":"body","type":"text"}],"timestamp_field":"at"},`+
		`"indexing_settings":{},"search_settings":{},"retention":null}`, id, id)
	answer, err := t.clients[0].metastore.CreateIndex(ctx, &metastorepb.CreateIndexRequest{IndexConfigJson: config})
	if err != nil {
		return fmt.Errorf("create index %s: %w", id, err)
	}
	if len(answer.GetIndexUid().GetIncarnationId()) != len(ulid.ULID{}) {
		return fmt.Errorf("create index %s: the answer has no incarnation id", id)
	}
	t.indexUID = answer.GetIndexUid()
	t.uid = metastore.IndexUID{IndexID: t.indexUID.GetIndexId(), Incarnation: ulid.ULID(t.indexUID.GetIncarnationId())}
	return nil
}

// prepare stages the splits that the scenario works on.
func (t *target) prepare(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(prepareWorkers)
	for first := 0; first < t.options.Splits; first += prepareBatch {
		worker := t.clients[first/prepareBatch%len(t.clients)]
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, t.options.CallTimeout)
			defer cancel()
			count := min(prepareBatch, t.options.Splits-first)
			_, err := worker.metastore.StageSplits(ctx, &metastorepb.StageSplitsRequest{
				IndexUid:                        t.indexUID,
				SplitMetadataListSerializedJson: t.generator.list(uint64(first), count),
			})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("stage the splits of the scenario: %w", err)
	}
	return nil
}

// close deletes the index, also when ctx has ended, and closes the connections.
func (t *target) close(ctx context.Context) error {
	var err error
	if t.indexUID != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		if _, failure := t.clients[0].metastore.DeleteIndex(ctx, &metastorepb.DeleteIndexRequest{IndexUid: t.indexUID}); failure != nil {
			err = fmt.Errorf("target %s: delete index %s, which is left behind: %w", t.address, t.uid, failure)
		}
	}
	for _, c := range t.clients {
		err = errors.Join(err, c.connection.Close())
	}
	return err
}
