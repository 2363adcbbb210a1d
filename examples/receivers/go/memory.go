package receiver

import (
	"context"
	"sync"
)

const maxRemembered = 10_000

// Memory is a Store of the last messages and accounts, as long as the process lives.
type Memory struct {
	mutex    sync.Mutex
	done     remembered
	versions remembered
}

func NewMemory() *Memory {
	return &Memory{done: remembered{values: map[string]int64{}}, versions: remembered{values: map[string]int64{}}}
}

func (m *Memory) IsDone(_ context.Context, messageID string) (bool, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	_, isDone := m.done.values[messageID]
	return isDone, nil
}

func (m *Memory) MarkDone(_ context.Context, messageID string) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.done.set(messageID, 0)
	return nil
}

func (m *Memory) IsNewest(_ context.Context, account string, version int64) (bool, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if known, isKnown := m.versions.values[account]; isKnown && known > version {
		return false, nil
	}
	m.versions.set(account, version)
	return true, nil
}

// The oldest key is forgotten first.
type remembered struct {
	values map[string]int64
	keys   []string
}

func (r *remembered) set(key string, value int64) {
	if _, isKnown := r.values[key]; !isKnown {
		r.keys = append(r.keys, key)
	}
	r.values[key] = value
	if len(r.keys) > maxRemembered {
		delete(r.values, r.keys[0])
		r.keys = r.keys[1:]
	}
}
