package bpe

// Load loads a vocabulary again.
func Load(name string) { loadVocabulary(name) }

// Name returns the name of the encoding.
func (c *Counter) Name() string { return c.name }
