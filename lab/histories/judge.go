// Judges what clients were answered: for each account there must be one order of its calls, each at some moment while it ran, in which
// every answer is right. Reads one call a line from the files that it is given, and prints one JSON object.
//
//	judge [-withdrawals] history.ndjson …
//
// With -withdrawals only the withdrawal has to hold, because a database without synchronous replication may lose the rest in a failover.
// A line of the kind "outage" says when a primary was taken away. PostgreSQL that is stopped lets go of commits that wait for a replica,
// so that a read of these moments may show a change that nobody was answered.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	maxCalls    = 400
	maxAttempts = 5
	maxTime     = 2 * time.Minute
)

// A call of a client. Addresses, passwords and tokens of an account are numbered; a change is named by the address that it asks for.
type call struct {
	Account  string `json:"account"`
	Client   int    `json:"client"`
	Kind     string `json:"kind"`
	Token    int    `json:"token"`
	Password int8   `json:"password"`
	Address  int8   `json:"address"`
	IsRight  bool   `json:"isRight"`
	Call     int64  `json:"call"`
	Return   int64  `json:"return"`
	// ok, refused with a code, or unknown: it may have had its effect, may have it later, or never.
	Outcome string `json:"outcome"`
	Code    string `json:"code"`
	Seen    struct {
		Address int8 `json:"address"`
		Pending int8 `json:"pending"`
	} `json:"seen"`
	// Its token may have ended after it was let in, and before its change or account was looked for or its password was compared.
	endsMeanwhile bool
	isInOutage    bool
}

func (c call) overlaps(d call) bool { return d.Call <= c.Return && c.Call <= d.Return }

// What is true of an account. Live are the tokens that open it, ended those that its withdrawal has ended.
type account struct {
	withdrawn bool
	// A verified change was undone: the person does not withdraw for a week.
	isHeld                               bool
	live, ended                          uint64
	password, address, pending, attempts int8
	// The verified changes, oldest first, with the address that each has replaced.
	verified, replaced [20]int8
	changes            int8
}

func (a account) isOpenTo(token int) bool { return !a.withdrawn && a.live&(1<<token) != 0 }

// The effect of a call that is accepted; false if the contract does not let it be.
func accepted(a account, c call) (account, bool) {
	switch c.Kind {
	case "grant":
		a.live |= 1 << c.Token
		return a, true
	case "status":
		pending := a.pending
		if a.attempts >= maxAttempts {
			pending = 0
		}
		isTrue := c.Seen.Address == a.address && c.Seen.Pending == pending
		return a, a.isOpenTo(c.Token) && (c.Outcome == "unknown" || c.isInOutage || isTrue)
	case "change":
		isRight := a.isOpenTo(c.Token) && c.Password == a.password
		a.pending, a.attempts = c.Address, 0
		return a, isRight
	case "verify":
		isRight := a.isOpenTo(c.Token) && c.Address == a.pending && a.attempts < maxAttempts && c.IsRight
		if isRight {
			a.verified[a.changes], a.replaced[a.changes] = c.Address, a.address
			a.changes++
			a.address, a.pending, a.attempts = c.Address, 0, 0
		}
		return a, isRight
	case "undo":
		if a.withdrawn {
			return a, false
		}
		isRight := a.pending == c.Address
		for i := int8(0); i < a.changes; i++ {
			if a.verified[i] == c.Address {
				isRight, a.isHeld = true, true
				a.address, a.changes = a.replaced[i], i
			}
		}
		for i := a.changes; i < int8(len(a.verified)); i++ {
			a.verified[i], a.replaced[i] = 0, 0
		}
		a.pending, a.attempts, a.live, a.password = 0, 0, 0, c.Password
		return a, isRight
	case "withdraw":
		isRight := a.isOpenTo(c.Token) && !a.isHeld
		a.withdrawn, a.ended, a.live, a.pending, a.attempts = true, a.live, 0, 0, 0
		return a, isRight
	}
	return a, false
}

// The effect of a call that is refused with its code.
func refused(a account, c call) (account, bool) {
	if c.Kind == "undo" {
		_, isRight := accepted(a, c)
		return a, c.Code == "EMAIL_006" && !isRight
	}
	if c.Kind == "withdraw" && a.withdrawn && a.ended&(1<<c.Token) != 0 {
		return a, c.Code == "WITHDRAWAL_002"
	}
	if !a.isOpenTo(c.Token) {
		wasLetIn := c.Kind == "verify" && c.Code == "EMAIL_006" || c.Kind == "change" && c.Code == "EMAIL_007" ||
			c.Kind == "withdraw" && (c.Code == "WITHDRAWAL_002" && a.withdrawn || c.Code == "WITHDRAWAL_003" && a.isHeld)
		return a, c.Code == "AUTH_001" || c.endsMeanwhile && wasLetIn
	}
	switch {
	case c.Kind == "change":
		return a, c.Code == "EMAIL_007" && c.Password != a.password
	case c.Kind == "withdraw":
		return a, c.Code == "WITHDRAWAL_003" && a.isHeld
	case c.Kind != "verify":
		return a, false
	case c.Address != a.pending:
		return a, c.Code == "EMAIL_006"
	case a.attempts >= maxAttempts:
		return a, c.Code == "EMAIL_005"
	}
	a.attempts++
	return a, c.Code == "EMAIL_003" && !c.IsRight
}

func step(state, input, _ any) []any {
	a, c := state.(account), input.(call)
	next := accepted
	if c.Outcome == "refused" {
		next = refused
	}
	b, isRight := next(a, c)
	switch {
	case c.Outcome == "unknown" && isRight:
		return []any{a, b}
	// A wrong code that was not answered may have been counted.
	case c.Outcome == "unknown" && c.Kind == "verify" && a.isOpenTo(c.Token) && c.Address == a.pending && a.attempts < maxAttempts:
		a.attempts++
		return []any{state, a}
	case c.Outcome == "unknown":
		return []any{a}
	case isRight:
		return []any{b}
	}
	return nil
}

// Only whether the account is withdrawn.
func stepOfWithdrawals(state, input, _ any) []any {
	isWithdrawn, c := state.(bool), input.(call)
	switch {
	case c.Outcome == "refused" || c.Kind == "grant":
		return []any{isWithdrawn}
	case c.Outcome == "unknown" && c.Kind == "withdraw":
		return []any{isWithdrawn, true}
	case c.Outcome == "unknown":
		return []any{isWithdrawn}
	case isWithdrawn:
		return nil
	}
	return []any{c.Kind == "withdraw"}
}

func main() {
	onlyWithdrawals := flag.Bool("withdrawals", false, "judge withdrawals only")
	flag.Parse()
	begun := time.Now()
	histories, outages, answers, problems := read(flag.Args())
	model := porcupine.NondeterministicModel{Init: func() []any { return []any{account{live: 1}} }, Step: step}
	if *onlyWithdrawals {
		model = porcupine.NondeterministicModel{Init: func() []any { return []any{false} }, Step: stepOfWithdrawals}
	}
	calls := judge(histories, outages, model.ToModel(), &problems)
	if calls == 0 {
		problems = append(problems, "nothing was judged")
	}
	for _, kind := range []string{"status", "change", "verify", "undo", "withdraw"} {
		if answers[kind+" ok"] == 0 {
			problems = append(problems, "no "+kind+" was ever accepted")
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"accounts": len(histories), "calls": calls, "answers": answers, "problems": problems,
		"seconds": math.Round(time.Since(begun).Seconds()*10) / 10, "megabytes": memory.Sys >> 20,
	})
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// The calls of each account, the outages, how often each answer was given, and what cannot be judged.
func read(files []string) (map[string][]call, []call, map[string]int, []string) {
	histories, outages, answers, problems := map[string][]call{}, []call{}, map[string]int{}, []string{}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return histories, outages, answers, append(problems, err.Error())
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var c call
			err := json.Unmarshal(lines.Bytes(), &c)
			if c.Kind == "outage" {
				outages = append(outages, c)
				continue
			}
			if err != nil || c.Account == "" || c.Token > 63 {
				problems = append(problems, fmt.Sprintf("%s has a line that is no call: %s", name, lines.Text()))
				continue
			}
			if c.Outcome == "unknown" {
				c.Return = math.MaxInt64
			}
			histories[c.Account] = append(histories[c.Account], c)
			answer := c.Kind + " " + c.Outcome
			if c.Code != "" {
				answer = c.Kind + " " + c.Code
			}
			answers[answer]++
		}
	}
	return histories, outages, answers, problems
}

// How many calls were judged.
func judge(histories map[string][]call, outages []call, model porcupine.Model, problems *[]string) (calls int) {
	var lock sync.Mutex
	var running sync.WaitGroup
	free := make(chan struct{}, runtime.NumCPU())
	for id, history := range histories {
		running.Add(1)
		free <- struct{}{}
		go func() {
			problem := ""
			if len(history) > maxCalls {
				problem = fmt.Sprintf("%s has %d calls, more than %d", id, len(history), maxCalls)
			} else if result := porcupine.CheckOperationsTimeout(model, operations(history, outages), maxTime); result != porcupine.Ok {
				text, _ := json.Marshal(history)
				problem = fmt.Sprintf("%s: %s: %s", id, result, text)
			}
			lock.Lock()
			defer lock.Unlock()
			calls += len(history)
			if problem != "" {
				*problems = append(*problems, problem)
			}
			<-free
			running.Done()
		}()
	}
	running.Wait()
	return calls
}

func operations(history, outages []call) []porcupine.Operation {
	all := make([]porcupine.Operation, len(history))
	for i, c := range history {
		for _, d := range history {
			isEnd := (d.Kind == "undo" || d.Kind == "withdraw") && d.Outcome != "refused"
			c.endsMeanwhile = c.endsMeanwhile || isEnd && c.overlaps(d)
		}
		c.isInOutage = slices.ContainsFunc(outages, c.overlaps)
		all[i] = porcupine.Operation{ClientId: c.Client, Input: c, Call: c.Call, Return: c.Return}
	}
	return all
}
