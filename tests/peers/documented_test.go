package main

import "testing"

// TestAllocations compares the allocations of each documented runner with those of the docs. They are exact: work that is done
// twice, or that nobody needs, is seen here on any machine.
func TestAllocations(t *testing.T) {
	docs, err := documentedOf(documentation)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows() {
		own := r
		own.runners = nil
		for _, x := range r.runners {
			if _, ok := docs[[2]string{r.name, x.name}]; ok || x.hidden {
				own.runners = append(own.runners, x)
			}
		}
		results, err := own.measure(3) // the first one also fills tables that are made once
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range own.runners {
			key := [2]string{r.name, x.name}
			want, ok := docs[key]
			delete(docs, key)
			const tolerance = 20 // one in so many
			got := results[i].allocs
			if ok && max(got, want.allocations)-min(got, want.allocations) > want.allocations/tolerance {
				t.Errorf("%s, %s: %d allocations, documented.txt has %d", r.name, x.name, got, want.allocations)
			}
		}
	}
	for key := range docs {
		t.Errorf("documented.txt: there is no row %q with a runner %q", key[0], key[1])
	}
}
