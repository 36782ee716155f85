package models

func (m Model) Validate() error { return m.validate() }

func (t *Table) Len() int { return len(t.rows) }

func Parse(text string) ([]Model, error) { return parse(text) }

func (p Price) Known() bool { return p.known() }
