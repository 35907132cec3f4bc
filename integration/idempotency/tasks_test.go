package idempotency

import (
	"strconv"

	"google.golang.org/protobuf/proto"

	"holdfast/proto/metastorepb"
)

func taskAndTemplateCases() []kase {
	return []kase{
		{name: "K-43 a repeated CreateDeleteTask answers the same task, and there is one", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			first := must(b, b.client.CreateDeleteTask, deleteTask(uid), key)
			wantEqual(b, replay(b, b.client.CreateDeleteTask, deleteTask(uid), "current", key), first)
			if n := b.numTasks(uid); n != 1 {
				b.Fatalf("%d tasks", n)
			}
		}},
		{name: "K-44 equal delete tasks of different keys are different tasks", run: func(b *bundle) {
			uid, one, two := b.index(), b.newKey(), b.newKey()
			first := must(b, b.client.CreateDeleteTask, deleteTask(uid), one)
			second := must(b, b.client.CreateDeleteTask, deleteTask(uid), two)
			if proto.Equal(first, second) {
				b.Fatal("the second call answered the task of the first")
			}
			wantEqual(b, replay(b, b.client.CreateDeleteTask, deleteTask(uid), "current", one), first)
			wantEqual(b, replay(b, b.client.CreateDeleteTask, deleteTask(uid), "current", two), second)
		}},
		{name: "K-45 a repeated CreateIndexTemplate does not undo a later one", run: func(b *bundle) {
			key := b.newKey()
			must(b, b.client.CreateIndexTemplate, template(1, true), key)
			must(b, b.client.CreateIndexTemplate, template(2, true), b.newKey())
			replay(b, b.client.CreateIndexTemplate, template(1, true), "current", key)
			found, err := b.store.IndexTemplate(b.Context(), "template")
			if err != nil || found.Priority != 2 {
				b.Fatalf("priority %v, %v; want 2", found, err)
			}
		}},
		{name: "K-46 a repeated DeleteIndexTemplates leaves a template alone that was created again", run: func(b *bundle) {
			key := b.newKey()
			request := &metastorepb.DeleteIndexTemplatesRequest{TemplateIds: []string{"template"}}
			must(b, b.client.CreateIndexTemplate, template(1, false))
			must(b, b.client.DeleteIndexTemplates, request, key)
			must(b, b.client.CreateIndexTemplate, template(1, false))
			replay(b, b.client.DeleteIndexTemplates, request, "current", key)
			if _, err := b.store.IndexTemplate(b.Context(), "template"); err != nil {
				b.Fatal(err)
			}
		}},
	}
}

func template(priority int, overwrite bool) *metastorepb.CreateIndexTemplateRequest {
	return &metastorepb.CreateIndexTemplateRequest{Overwrite: overwrite,
		IndexTemplateJson: `{"version":"0.9","template_id":"template","index_id_patterns":["logs-*"],"priority":` + strconv.Itoa(priority) + `,"doc_mapping":{}}`}
}
