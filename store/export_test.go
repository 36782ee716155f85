package store

// BytesOf returns about how many bytes the contents of a memory take.
func BytesOf(m *Memory) int {
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	return m.in.bytes
}
