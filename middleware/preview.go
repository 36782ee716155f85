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
