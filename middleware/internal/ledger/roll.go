package ledger

// roll is a list without doubles. What is put in again moves to the end.
type roll struct {
	entries []entry
	at      map[string]int
}

// entry is a fact.
type entry struct {
	key   string // the line that is written of it: two that read the same are one
	state state  // what is known of it
	code  string // the exit code of a command; "": unknown
	gone  bool   // there is a newer one with the same key
}

// state is what is known of a fact beside its text.
type state uint8

const (
	unknown state = iota
	passed        // of a command
	failed        //
	read          // of a file
	written       // also if it was read before or since
	banned        // of a sentence: a prohibition, or what lifts one
	told          // any other instruction
)

// put appends an entry in place of the one with the same key, which it returns.
// One without anything to read is none.
func (r *roll) put(e entry) (before entry) {
	if e.key == "" {
		return entry{}
	}
	if r.at == nil {
		r.at = map[string]int{}
	}
	if i, ok := r.at[e.key]; ok {
		before = r.entries[i]
		r.entries[i] = entry{gone: true}
	}
	r.at[e.key] = len(r.entries)
	r.entries = append(r.entries, e)
	return before
}

// get returns the entry of a key; nil: there is none. It is valid until the next
// put.
func (r *roll) get(key string) *entry {
	if i, ok := r.at[key]; ok {
		return &r.entries[i]
	}
	return nil
}

// remove takes out the entry of a key, if there is one.
func (r *roll) remove(key string) {
	if i, ok := r.at[key]; ok {
		r.entries[i] = entry{gone: true}
		delete(r.at, key)
	}
}
