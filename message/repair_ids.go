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
			d.fix(BadID, r.call.at, id, "became %q", ids[k])
		case d.want.reused && n > 0:
			ids[k] = d.derive(id, n)
			d.fix(ReusedID, r.call.at, id, "became %q", ids[k])
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
		a := &r.answers[i]
		parts := slices.Clone(a.Parts)
		for n, k := range a.calls {
			if res, ok := parts[n].(ToolResult); ok {
				res.CallID = ids[k]
				parts[n] = res
			}
		}
		a.Parts = parts
	}
}

// mendOrder puts the results of a round into the order of its calls.
func (d *mender) mendOrder(r *round) {
	if !d.want.order {
		return
	}
	if r.ordered() {
		return
	}
	single := !slices.ContainsFunc(r.answers, func(a answer) bool { return len(slices.Compact(slices.Sorted(slices.Values(a.calls)))) > 1 })
	if single {
		slices.SortStableFunc(r.answers, func(a, b answer) int { return a.calls[0] - b.calls[0] })
		return
	}
	one := r.answers[0]
	one.Parts, one.calls = nil, nil
	for k := range len(r.ids) + 1 {
		want := k
		if k == len(r.ids) {
			want = -1 // what is no result comes last
		}
		for _, a := range r.answers {
			one.Hints.Pinned = one.Hints.Pinned || a.Hints.Pinned
			for n, call := range a.calls {
				if call == want {
					one.Parts, one.calls = append(one.Parts, a.Parts[n]), append(one.calls, call)
				}
			}
		}
	}
	r.answers = []answer{one}
}

// ordered reports whether the first pieces of the results are in the order of
// the calls.
func (r *round) ordered() bool {
	var o order
	for _, id := range r.ids {
		o.add(id)
	}
	for _, a := range r.answers {
		for res := range a.Results() {
			if !o.next(res.CallID) {
				return false
			}
		}
	}
	return true
}

// noteOrder reports results that stand in another order than their calls.
func (d *mender) noteOrder(r *round) {
	if !d.want.order {
		return
	}
	var o order
	for _, id := range r.ids {
		o.add(id)
	}
	for _, a := range r.answers {
		for res := range a.Results() {
			if !o.next(res.CallID) {
				d.fix(ResultOrder, a.at, res.CallID, "put in the order of the calls")
			}
		}
	}
}
