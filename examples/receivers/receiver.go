// A connected application that accepts deletion tasks and reports on them.
// PORT=4711 SIGNING_SECRET=whsec_… go run examples/receivers/receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type message struct {
	Type string
	Data struct {
		Account string
		Task    map[string]string
	}
}

// By message, whether its deletion is done. Yours stands in your database: what only this process knows is lost with it, and asked
// for again a day later.
var states sync.Map

func isSigned(header http.Header, body []byte) bool {
	sentAt, err := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(sentAt, 0)).Abs() > 5*time.Minute {
		return false
	}
	// After a rotation: the old secret and the new one, with a space between them.
	for _, secret := range strings.Fields(os.Getenv("SIGNING_SECRET")) {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%d.%s", header.Get("webhook-id"), sentAt, body)
		expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, given := range strings.Fields(header.Get("webhook-signature")) {
			if hmac.Equal([]byte(given), []byte(expected)) {
				return len(key) > 0
			}
		}
	}
	return false
}

func report(task map[string]string, said string) bool {
	request, err := http.NewRequest("POST", task["report_to"], strings.NewReader(said))
	if err != nil {
		return false
	}
	request.Header = http.Header{"Authorization": {"Bearer " + task["report_token"]}, "Content-Type": {"application/json"}}
	answer, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == 200
}

func deleteAll(id, account string, task map[string]string) {
	isTold := true
	for number := 1; number <= 3; number++ { // Your deletion of `account` goes here. Another one may have the same `subject` by now.
		isTold = isTold && report(task, fmt.Sprintf(`{"status":"processing","progress":{"done":%d,"total":3}}`, number))
	}
	if isTold && report(task, `{"status":"completed","records":3}`) {
		states.Store(id, true)
	} else {
		states.Delete(id) // The message comes again when no report has come for a day, and then it begins anew.
	}
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64*1024))
	var told message
	if err != nil || !isSigned(r.Header, body) || json.Unmarshal(body, &told) != nil {
		w.WriteHeader(401)
		return
	}
	if told.Type != "account.withdrawn" || told.Data.Task == nil {
		return
	}
	id := r.Header.Get("webhook-id")
	isDone, isKnown := states.LoadOrStore(id, false)
	if !isKnown {
		go deleteAll(id, told.Data.Account, told.Data.Task)
	}
	if !isDone.(bool) {
		w.WriteHeader(202)
	}
}

func main() {
	http.HandleFunc("/", receive)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
