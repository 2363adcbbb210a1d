package receiver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

const (
	oldSecret = "whsec_b2xkIHNlY3JldA=="
	newSecret = "whsec_bmV3IHNlY3JldA=="
	now       = 1_795_000_000
)

type call struct {
	id, secret, body string
	at               int64
}

func sign(c call) http.Header {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(c.secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", c.id, c.at, c.body)
	header := http.Header{}
	header.Set("webhook-id", c.id)
	header.Set("webhook-timestamp", fmt.Sprint(c.at))
	header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return header
}

func given(t *testing.T, handle func(Message) (Outcome, error)) *Receiver {
	t.Helper()
	receiver, err := New([]string{oldSecret, newSecret}, func(_ context.Context, message Message) (Outcome, error) {
		return handle(message)
	})
	if err != nil {
		t.Fatal(err)
	}
	receiver.now = func() time.Time { return time.Unix(now, 0) }
	return receiver
}

func send(r *Receiver, id, kind string, version int64) int {
	body := fmt.Sprintf(`{"type":%q,"timestamp":"t","data":{"subject":"42","account":"usr_1","version":%d}}`, kind, version)
	status, _ := r.answer(context.Background(), sign(call{id, newSecret, body, now}), []byte(body))
	return status
}

func expect(t *testing.T, what string, found, wanted any) {
	t.Helper()
	if !reflect.DeepEqual(found, wanted) {
		t.Errorf("%s: %v, not %v", what, found, wanted)
	}
}

func TestTakesEitherSecretAndRefusesWhatIsUnsignedChangedOrOld(t *testing.T) {
	receiver := given(t, func(Message) (Outcome, error) { return Done, nil })
	body := `{"type":"account.password_changed","data":{}}`
	status := func(header http.Header, sent string) int {
		status, _ := receiver.answer(context.Background(), header, []byte(sent))
		return status
	}
	expect(t, "the old secret", status(sign(call{"a", oldSecret, body, now}), body), 200)
	expect(t, "the new secret", status(sign(call{"b", newSecret, body, now}), body), 200)
	expect(t, "unsigned", status(http.Header{}, body), 401)
	expect(t, "changed", status(sign(call{"c", newSecret, body, now}), body+" "), 401)
	expect(t, "another secret", status(sign(call{"d", "whsec_YW5vdGhlcg==", body, now}), body), 401)
	expect(t, "too old", status(sign(call{"e", newSecret, body, now - 301}), body), 401)
	expect(t, "too early", status(sign(call{"f", newSecret, body, now + 301}), body), 401)
	for _, secrets := range [][]string{nil, {""}, {"whsec_"}} {
		if _, err := New(secrets, nil); err == nil {
			t.Errorf("%q is taken as a secret", secrets)
		}
	}
}

func TestHandlesAMessageOnceAndAgainWhereItFailed(t *testing.T) {
	handled := 0
	receiver := given(t, func(Message) (Outcome, error) {
		handled++
		return Outcome(handled == 3), map[int]error{1: errors.New("the database is away")}[handled]
	})
	for _, wanted := range []int{500, 202, 200, 200} {
		expect(t, "the answer", send(receiver, "m", "account.email_changed", 1), wanted)
	}
	expect(t, "handled", handled, 3)
}

func TestADeletionWithoutATaskCannotBeDoneLater(t *testing.T) {
	receiver := given(t, func(Message) (Outcome, error) { return Later, nil })
	for body, wanted := range map[string]int{
		`{"type":"account.withdrawn","data":{}}`:                  500,
		`{"type":"account.withdrawn","data":{"task":{"id":"m"}}}`: 202,
	} {
		status, _ := receiver.answer(context.Background(), sign(call{"m", newSecret, body, now}), []byte(body))
		expect(t, body, status, wanted)
	}
}

func TestNeverHandsOnAnAddressThatIsOlderThanTheKnownOneOrOfAWithdrawnAccount(t *testing.T) {
	var handled []string
	receiver := given(t, func(message Message) (Outcome, error) {
		handled = append(handled, message.ID)
		return Done, nil
	})
	for _, sent := range []struct {
		id, kind string
		version  int64
	}{
		{"2", "email_changed", 2}, {"1", "email_changed", 1}, {"7", "password_changed", 7},
		{"3", "email_reverted", 3}, {"end", "withdrawn", 0}, {"4", "email_changed", 4},
	} {
		expect(t, sent.id, send(receiver, sent.id, "account."+sent.kind, sent.version), 200)
	}
	expect(t, "handled", handled, []string{"2", "7", "3", "end"})
}

func TestAnswersAQuestionOnlyWhereItCan(t *testing.T) {
	receiver := given(t, nil)
	expect(t, "without a check", send(receiver, "m", "account.withdrawal_check", 0), 501)
	receiver.Check = func(context.Context, string, string) ([]Blocker, error) { return nil, nil }
	body := `{"type":"account.withdrawal_check","data":{}}`
	_, answer := receiver.answer(context.Background(), sign(call{"m", newSecret, body, now}), []byte(body))
	expect(t, "the answer", string(answer), `{"blockers":[]}`)
}

func TestSaysByTheAccountWhetherAnythingOfItIsThere(t *testing.T) {
	receiver := given(t, nil)
	expect(t, "without an answer", send(receiver, "m", "account.absence_check", 0), 501)
	for _, isPresent := range []bool{true, false} {
		receiver.IsPresent = func(_ context.Context, account string) (bool, error) { return isPresent && account == "usr_1", nil }
		body := `{"type":"account.absence_check","data":{"subject":"42","account":"usr_1"}}`
		_, answer := receiver.answer(context.Background(), sign(call{"m", newSecret, body, now}), []byte(body))
		expect(t, "the answer", string(answer), fmt.Sprintf(`{"account":"usr_1","present":%t}`, isPresent))
	}
	receiver.IsPresent = func(context.Context, string) (bool, error) { return false, errors.New("the database is away") }
	expect(t, "unknown", send(receiver, "m", "account.absence_check", 0), 500)
}

func TestHandlesADeletionThatComesAgain(t *testing.T) {
	handled := 0
	receiver := given(t, func(Message) (Outcome, error) {
		handled++
		return Done, nil
	})
	for range 2 {
		expect(t, "the answer", send(receiver, "m", "account.withdrawn", 0), 200)
	}
	expect(t, "handled", handled, 2)
}

func TestAReportThatIsRefusedSaysWhy(t *testing.T) {
	var said map[string]any
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&said)
		w.WriteHeader(409)
		fmt.Fprint(w, `{"success":false,"error":{"code":"TASK_002"}}`)
	}))
	defer service.Close()
	err := Task{ReportTo: service.URL, ReportToken: "dtk_x"}.Report(context.Background(), Report{Status: "failed", Code: "disk"})
	var refused *Refused
	if !errors.As(err, &refused) || refused.Code != "TASK_002" || refused.Status != 409 {
		t.Errorf("the error is %v", err)
	}
	expect(t, "said", said, map[string]any{"status": "failed", "code": "disk"})
}

func TestMemoryForgetsTheOldestFirst(t *testing.T) {
	memory, ctx := NewMemory(), context.Background()
	for number := range maxRemembered + 1 {
		_ = memory.MarkDone(ctx, fmt.Sprint(number))
	}
	first, _ := memory.IsDone(ctx, "0")
	second, _ := memory.IsDone(ctx, "1")
	expect(t, "known", []bool{first, second}, []bool{false, true})
}
