package file

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore"
	"holdfast/metastore/internal/losses"
)

// writeDeleteTasks writes the member "delete_tasks" of a snapshot behind what the buffer holds, and returns the
// buffer with what is not written yet. The member is there without tasks too, because the peer demands it.
func writeDeleteTasks(w io.Writer, buffer []byte, tasks *deleteTaskSet) ([]byte, error) {
	buffer = append(buffer, `,"delete_tasks":[`...)
	first := true
	var err error
	tasks.above(0, func(task *metastore.DeleteTask) bool {
		if !first {
			buffer = append(buffer, ',')
		}
		first = false
		buffer = task.AppendJSON(buffer)
		if len(buffer) >= snapshotPiece {
			_, err = w.Write(buffer)
			buffer = buffer[:0]
		}
		return err == nil
	})
	return append(buffer, ']'), err
}

// deleteTasks reads the member "delete_tasks".
func (d *snapshotDecoder) deleteTasks(tasks *deleteTaskSet) error {
	return d.elements(func(text jsontext.Value) error {
		task, err := metastore.ParseDeleteTask(text)
		if err != nil {
			return err
		}
		if last := tasks.last(); task.Opstamp <= last {
			return fmt.Errorf("opstamp %d is not above %d", task.Opstamp, last)
		}
		tasks.put(&task)
		return d.lost.Compare(losses.DeleteTask, text, task.AppendJSON)
	})
}
