package receiver

import (
	"context"
	"errors"
	"log"
	"strings"
	"sync"
)

// Deletions runs each deletion on a goroutine of its own, once at a time, and reports on it. A process that ends forgets it, and the message
// comes again. One that comes after the end begins anew: something of the account was still there.
type Deletions struct {
	// Delete removes what belongs to the account, calls progress, and returns what the last report says beside its status.
	Delete func(ctx context.Context, account string, progress func(done, total int) error) (Report, error)

	mutex   sync.Mutex
	running map[string]bool
}

// Accept is for the handler, on account.withdrawn.
func (d *Deletions) Accept(ctx context.Context, message Message) (Outcome, error) {
	if message.Data.Task == nil {
		_, err := d.Delete(ctx, message.Data.Account, func(int, int) error { return nil })
		return Done, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if !d.running[message.ID] {
		if d.running == nil {
			d.running = map[string]bool{}
		}
		d.running[message.ID] = true
		go d.run(message)
	}
	return Later, nil
}

func (d *Deletions) run(message Message) {
	// The call that brought the message is answered long before.
	err := d.deleteAndReport(context.Background(), *message.Data.Task, message.Data.Account)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.running, message.ID)
	if err != nil {
		log.Printf("The deletion %s begins anew when its message comes again: %v", message.ID, err)
	}
}

func (d *Deletions) deleteAndReport(ctx context.Context, task Task, account string) error {
	last, err := d.Delete(ctx, account, func(done, total int) error {
		return tell(ctx, task, Report{Status: "processing", Progress: &Progress{done, total}})
	})
	if err != nil {
		return err
	}
	last.Status = "completed"
	return tell(ctx, task, last)
}

// A task that is over elsewhere, because somebody waived it, is deleted here all the same.
func tell(ctx context.Context, task Task, report Report) error {
	err := task.Report(ctx, report)
	var refused *Refused
	if errors.As(err, &refused) && strings.HasPrefix(refused.Code, "TASK_") {
		return nil
	}
	return err
}
