package bpe

// Load loads a vocabulary anew.
func Load(name string) { loadVocabulary(name) }
