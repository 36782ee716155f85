package store

// BytesOf returns about how many bytes the contents of a memory take.
func BytesOf(m *Memory) int {
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	return m.in.bytes
}

// HandleOf returns the handle of a content in a scope of Memory or Dir.
func HandleOf(scope string, c Content) Handle { return newScope(nil, scope).Handle(c.Hash()) }
