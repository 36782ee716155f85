package fakeprovider

import "sync"

// Record is one request and what became of it.
type Record struct {
	Method  string
	Path    string
	Body    []byte   // as it was sent; up to the limit, if it is larger
	Request *Request // nil: the body could not be read as one, or was not
	Tokens  Tokens   // of the request
	Refused *Error   // the rule that the request broke; nil: none
	Reply   *Reply   // what the brain said, with the ids of its calls; nil: it was not asked
	Status  int      // HTTP status of the answer; 0: none yet
	Usage   Usage    // zero for what was refused
	Events  int      // events of a stream that were sent, [DONE] among them
	Broken  string   // why the answer did not go out whole: the fault, or the client is gone; "": it did
	Done    bool     // the handler is through
}

// requestLog keeps records. Safe for concurrent use.
type requestLog struct {
	mu      sync.Mutex
	records []*entry
}

// entry is a record that its handler still writes.
type entry struct {
	log *requestLog
	rec Record
}

func (l *requestLog) open(method, path string) *entry {
	e := &entry{log: l, rec: Record{Method: method, Path: path}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, e)
	return e
}

// set changes the record. What change keeps must not be written to later.
func (e *entry) set(change func(r *Record)) {
	e.log.mu.Lock()
	defer e.log.mu.Unlock()
	change(&e.rec)
}

func (l *requestLog) all() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Record, len(l.records))
	for i, e := range l.records {
		all[i] = e.rec
	}
	return all
}

func (l *requestLog) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = nil
}
