package wire_test

type block map[string]any
