package bpe

// Load loads a vocabulary again.
func Load(name string) { loadVocabulary(name) }
