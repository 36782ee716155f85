package message

import "slices"

// mendIDs gives calls other ids where theirs may not be, and their results with
// them. used counts how often an id was met.
func (d *mender) mendIDs(r *round, used map[string]int) {
	ids := slices.Clone(r.ids)
	for k, id := range r.ids {
		n := used[id]
		used[id]++
		switch {
		case slices.Contains(r.ids[:k], id):
			ids[k] = d.derive(id, n)
			d.fix(DuplicateCall, r.call.at, id, "the call became %q", ids[k])
		case d.want.id && !d.rules.goodID(id):
			ids[k] = d.derive(id, n)
			d.fix(badID, r.call.at, id, "became %q", ids[k])
		case d.want.reused && n > 0:
			ids[k] = d.derive(id, n)
			d.fix(reusedID, r.call.at, id, "became %q", ids[k])
		}
	}
	if !slices.Equal(ids, r.ids) {
		r.rename(ids)
	}
}

func (r *round) rename(ids []string) {
	r.ids = ids
	parts, k := slices.Clone(r.call.Parts), 0
	for i, p := range parts {
		if c, ok := p.(ToolCall); ok {
			c.ID = ids[k]
			parts[i] = c
			k++
		}
	}
	r.call.Parts = parts
	for i := range r.answers {
		r.answers[i].rename(ids)
	}
}

func (a *answer) rename(ids []string) {
	own := false // the message shares its parts with the list before
	for n, k := range a.calls {
		res, ok := a.Parts[n].(ToolResult)
		if !ok || res.CallID == ids[k] {
			continue
		}
		if !own {
			a.Parts, own = slices.Clone(a.Parts), true
		}
		res.CallID = ids[k]
		a.Parts[n] = res
	}
}

// mendOrder puts the results of a round into the order of its calls: the parts
// of each message, then the messages, and where that is not enough, all results
// into one message.
func (d *mender) mendOrder(r *round) {
	if !d.want.order || r.ordered() {
		return
	}
	was := slices.Clone(r.answers)
	for i := range r.answers {
		if a := &r.answers[i]; !inOrder(a.calls) {
			*a = gathered(len(r.ids), *a)
		}
	}
	slices.SortStableFunc(r.answers, func(a, b answer) int { return a.first() - b.first() })
	if r.ordered() {
		return
	}
	for _, a := range was[1:] {
		if a.at != r.call.at { // it is not one that was put in
			d.fix(resultOrder, a.at, r.ids[a.first()], "became one with the other results of its round")
		}
	}
	r.answers = []answer{gathered(len(r.ids), was...)}
}

// ordered reports whether the first pieces of the results are in the order of
// the calls.
func (r *round) ordered() bool {
	var calls []int
	for _, a := range r.answers {
		calls = append(calls, a.calls...)
	}
	return inOrder(calls)
}

func inOrder(calls []int) bool {
	high := 0
	for n, call := range calls {
		if call < 0 || slices.Contains(calls[:n], call) {
			continue
		}
		if call < high {
			return false
		}
		high = call
	}
	return true
}

// first returns the first call that the message answers.
func (a *answer) first() int {
	return a.calls[slices.IndexFunc(a.calls, func(call int) bool { return call >= 0 })]
}

// gathered returns the answers to n calls as one message, by the order of the
// calls. What is no result comes last.
func gathered(n int, answers ...answer) answer {
	one := answers[0]
	one.Parts, one.calls = nil, nil
	for k := range n + 1 {
		want := k
		if k == n {
			want = -1
		}
		for _, a := range answers {
			one.Hints.Pinned = one.Hints.Pinned || a.Hints.Pinned
			for n, call := range a.calls {
				if call == want {
					one.Parts, one.calls = append(one.Parts, a.Parts[n]), append(one.calls, call)
				}
			}
		}
	}
	return one
}

// noteOrder reports results that stand in another order than their calls.
func (d *mender) noteOrder(r *round) {
	if !d.want.order {
		return
	}
	var o order
	o.open(&r.call.Message)
	for _, a := range r.answers {
		for res := range a.Results() {
			if !o.next(res.CallID) {
				d.fix(resultOrder, a.at, res.CallID, "put in the order of the calls")
			}
		}
	}
}
