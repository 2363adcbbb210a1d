// Package receiver is the receiver of a connected application: it verifies, deduplicates and orders what the User Account Service posts,
// and reports on deletions.
package receiver

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Outcome of a message: Done ends it; Later accepts its task, and a report has to end it. A deletion without a task can only be Done.
type Outcome bool

const (
	Done  Outcome = true
	Later Outcome = false
)

const (
	maxBodyBytes = 64 * 1024
	tolerance    = 5 * time.Minute
	// Newer than every version of an account.
	withdrawn = math.MaxInt64
)

var errNoTask = errors.New("a deletion without a task cannot be done later: register with --acknowledges later, or delete at once")

// Message is what the service posts.
type Message struct {
	ID   string `json:"-"`
	Type string `json:"type"`
	Data Data   `json:"data"`
	// Body has every member, also those that Data does not name.
	Body []byte `json:"-"`
}

// Data is about one person. Subject is your id of the person. Keep Account: who comes back after a deletion has another one with the
// same subject.
type Data struct {
	Subject string `json:"subject"`
	Account string `json:"account"`
	// Version rises with every change of the account; it is nil where the message has none.
	Version  *int64  `json:"version"`
	OldEmail *string `json:"old_email"`
	NewEmail *string `json:"new_email"`
	Task     *Task   `json:"task"`
}

// Task is a deletion task. Keep it until the deletion is done.
type Task struct {
	ID          string `json:"id"`
	DueBy       string `json:"due_by"`
	ReportTo    string `json:"report_to"`
	ReportToken string `json:"report_token"`
}

// Report is what an application says of a deletion. Status is processing, completed or failed.
type Report struct {
	Status   string     `json:"status"`
	Progress *Progress  `json:"progress,omitempty"`
	Records  *int       `json:"records,omitempty"`
	Retained []Retained `json:"retained,omitempty"`
	Code     string     `json:"code,omitempty"`
}

type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// Retained is what has to stay, in words that are registered for the application.
type Retained struct {
	Category string `json:"category"`
	Reason   string `json:"reason"`
	Until    string `json:"until,omitempty"`
}

// Refused is the service's answer to a report that it does not take. Its code never changes, such as TASK_002.
type Refused struct {
	Status int
	Code   string
}

func (r *Refused) Error() string {
	return fmt.Sprintf("the report was refused: %d %s", r.Status, r.Code)
}

var client = &http.Client{
	Timeout:       10 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Report sends a report. A refusal is a *Refused; after any other error the report can be sent again.
func (t Task) Report(ctx context.Context, report Report) error {
	said, err := json.Marshal(report)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, "POST", t.ReportTo, bytes.NewReader(said))
	if err != nil {
		return err
	}
	request.Header = http.Header{"Authorization": {"Bearer " + t.ReportToken}, "Content-Type": {"application/json"}}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == 200 {
		return nil
	}
	var body struct{ Error struct{ Code string } }
	_ = json.NewDecoder(io.LimitReader(answer.Body, maxBodyBytes)).Decode(&body)
	return &Refused{answer.StatusCode, body.Error.Code}
}

// Blocker holds a withdrawal back, in words for the person.
type Blocker struct {
	Code   string  `json:"code"`
	Title  string  `json:"title"`
	URL    *string `json:"url"`
	Amount *Amount `json:"amount,omitempty"`
}

// Amount has to be paid. It counts the smallest unit of the currency, whose code is that of ISO 4217.
type Amount struct {
	MinorUnits int    `json:"minor_units"`
	Currency   string `json:"currency"`
}

// Store is what has to outlive the process. Yours stands in your database.
type Store interface {
	IsDone(ctx context.Context, messageID string) (bool, error)
	MarkDone(ctx context.Context, messageID string) error
	// IsNewest keeps the version unless a newer one of the account is known, and returns whether it did.
	IsNewest(ctx context.Context, account string, version int64) (bool, error)
}

// Receiver is an http.Handler.
type Receiver struct {
	keys   [][]byte
	handle func(context.Context, Message) (Outcome, error)
	// Check lists what holds the withdrawal of a person back; nil where the application is registered without `checks`.
	Check func(ctx context.Context, subject, account string) ([]Blocker, error)
	// IsPresent says whether anything of this account is left, by the account alone: who came back has the same subject. It is nil where
	// the application is registered without `confirms`.
	IsPresent func(ctx context.Context, account string) (bool, error)
	// Store is the memory of this process where you set none.
	Store Store
	now   func() time.Time
	seed  maphash.Seed
	locks [64]sync.Mutex
}

// New takes the signing secret; after a rotation the old and the new one.
func New(secrets []string, handle func(context.Context, Message) (Outcome, error)) (*Receiver, error) {
	receiver := &Receiver{handle: handle, Store: NewMemory(), now: time.Now, seed: maphash.MakeSeed()}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return nil, errors.New("a signing secret is empty or cut: take the one that `app register` printed")
		}
		receiver.keys = append(receiver.keys, key)
	}
	if len(receiver.keys) == 0 {
		return nil, errors.New("there is no signing secret: take the one that `app register` printed")
	}
	return receiver, nil
}

func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBodyBytes))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	status, answer := r.answer(request.Context(), request.Header, body)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(answer)
}

func (r *Receiver) answer(ctx context.Context, header http.Header, body []byte) (int, []byte) {
	if !r.isSigned(header, body) {
		return 401, nil
	}
	message := Message{ID: header.Get("webhook-id"), Body: body}
	if json.Unmarshal(body, &message) != nil {
		return 400, nil
	}
	if message.Type == "account.withdrawal_check" {
		return r.answerCheck(ctx, message.Data)
	}
	if message.Type == "account.absence_check" {
		return r.answerAbsence(ctx, message.Data.Account)
	}
	outcome, err := r.handleOnce(ctx, message)
	if err != nil {
		log.Printf("The message %s was not handled, and comes again: %v", message.ID, err)
		return 500, nil
	}
	if outcome == Later {
		return 202, nil
	}
	return 200, nil
}

func (r *Receiver) answerCheck(ctx context.Context, data Data) (int, []byte) {
	// Without an answer nobody can be withdrawn, but an empty list would say that nothing holds the withdrawal back.
	if r.Check == nil {
		return 501, nil
	}
	blockers, err := r.Check(ctx, data.Subject, data.Account)
	if err != nil {
		log.Printf("What holds a withdrawal back is not known: %v", err)
		return 500, nil
	}
	answer, _ := json.Marshal(map[string][]Blocker{"blockers": append([]Blocker{}, blockers...)})
	return 200, answer
}

func (r *Receiver) answerAbsence(ctx context.Context, account string) (int, []byte) {
	// Nobody may say for the application that it has nothing.
	if r.IsPresent == nil {
		return 501, nil
	}
	isPresent, err := r.IsPresent(ctx, account)
	if err != nil {
		log.Printf("Whether an account is absent is not known: %v", err)
		return 500, nil
	}
	answer, _ := json.Marshal(map[string]any{"present": isPresent, "account": account})
	return 200, answer
}

func (r *Receiver) isSigned(header http.Header, body []byte) bool {
	id, sentAt := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseUint(sentAt, 10, 32)
	if err != nil || id == "" || r.now().Sub(time.Unix(int64(seconds), 0)).Abs() > tolerance {
		return false
	}
	for _, key := range r.keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, sentAt, body)
		expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, given := range strings.Fields(header.Get("webhook-signature")) {
			if hmac.Equal([]byte(given), []byte(expected)) {
				return true
			}
		}
	}
	return false
}

// One message of an account after the other, so that an older one cannot end after a newer one.
func (r *Receiver) handleOnce(ctx context.Context, message Message) (Outcome, error) {
	lock := &r.locks[maphash.String(r.seed, message.Data.Account)%uint64(len(r.locks))]
	lock.Lock()
	defer lock.Unlock()
	// A deletion comes again where its answer was lost, or something of the account was still there.
	if message.Type != "account.withdrawn" {
		if isDone, err := r.Store.IsDone(ctx, message.ID); isDone || err != nil {
			return Done, err
		}
	}
	isStale, err := r.isStale(ctx, message)
	if err != nil {
		return Later, err
	}
	outcome := Done
	if !isStale {
		outcome, err = r.handle(ctx, message)
	}
	// The service would take 202 for the end of it.
	if err == nil && outcome == Later && message.Type == "account.withdrawn" && message.Data.Task == nil {
		err = errNoTask
	}
	if err == nil && outcome == Done {
		err = r.Store.MarkDone(ctx, message.ID)
	}
	return outcome, err
}

// Of an address that is older than the known one, or of a withdrawn account. All other messages may come in any order.
func (r *Receiver) isStale(ctx context.Context, message Message) (bool, error) {
	switch data := message.Data; message.Type {
	case "account.withdrawal_started", "account.withdrawn":
		_, err := r.Store.IsNewest(ctx, data.Account, withdrawn)
		return false, err
	case "account.email_changed", "account.email_reverted":
		if data.Version == nil {
			return false, nil
		}
		isNewest, err := r.Store.IsNewest(ctx, data.Account, *data.Version)
		return !isNewest, err
	}
	return false, nil
}
