// A connected application that accepts deletion tasks and reports on them.
// cd examples/receivers/go && PORT=4711 SIGNING_SECRET=whsec_… go run ./example
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"

	"receiver"
)

// Yours stand in your database.
var people sync.Map

func deleteAll(_ context.Context, account string, progress func(done, total int) error) (receiver.Report, error) {
	records := 3
	for number := 1; number <= records; number++ { // Your deletion of `account` goes here.
		if err := progress(number, records); err != nil {
			return receiver.Report{}, err
		}
	}
	people.Delete(account)
	return receiver.Report{Records: &records}, nil
}

func main() {
	for _, account := range strings.Fields(os.Getenv("ACCOUNTS")) {
		people.Store(account, true)
	}
	deletions := &receiver.Deletions{Delete: deleteAll}
	handle := func(ctx context.Context, message receiver.Message) (receiver.Outcome, error) {
		if message.Type == "account.withdrawn" {
			return deletions.Accept(ctx, message)
		}
		return receiver.Done, nil
	}
	receive, err := receiver.New(strings.Fields(os.Getenv("SIGNING_SECRET")), handle)
	if err != nil {
		log.Fatal(err)
	}
	receive.IsPresent = func(_ context.Context, account string) (bool, error) {
		_, isPresent := people.Load(account)
		return isPresent, nil
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), receive))
}
