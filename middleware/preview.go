package middleware

// Preview returns the view that a plan of the named middleware would make, for
// an editor that must know whether it has planned enough. Its tokens are those
// that will be told, and its messages those that the model would see. The error
// says which rule the plan breaks, for which it would be refused. Folds that are
// still to be made count as estimated. Nothing is kept of it.
func (v *View) Preview(by string, p *Plan) (*View, error) {
	if len(p.Edits) == 0 {
		return v, nil
	}
	own := *p
	_, w, err := v.planned(by, &own)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// planned returns the records of a plan and the verified view that they make.
func (v *View) planned(by string, p *Plan) ([]*Record, *View, error) {
	records, err := v.translate(by, p)
	if err != nil {
		return nil, nil, err
	}
	w, err := v.withEdits(records, p)
	if err != nil {
		return nil, nil, err
	}
	return records, w, verify(v, w, records, p.lazy())
}

// TokensWithout returns what [View.Tokens] would be if so many tokens by the
// meter were gone. It is as good as a view of which they are gone, but for texts
// in ideographs that no model has seen yet.
func (v *View) TokensWithout(counted int) int {
	return v.Lighter(counted).Tokens()
}

// Lighter returns the view with all its messages, as if so many tokens by the meter
// were gone, or as many more if there are less than 0: to ask a [Trigger] what it
// would say.
func (v *View) Lighter(counted int) *View {
	w := *v
	w.msgTokens -= counted
	return &w
}

// Counted returns the tokens of all that would be sent by the meter alone, whatever
// the provider has reported of earlier prompts.
func (v *View) Counted() int { return v.counted() }
