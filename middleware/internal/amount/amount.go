// Package amount checks the whole numbers among options.
package amount

import "fmt"

// Amount is an option that says how many.
type Amount struct {
	Name, Unit string // Unit in the plural
	Value      int
}

// NonNegative returns an error for each amount below 0.
func NonNegative(amounts ...Amount) []error {
	var errs []error
	for _, a := range amounts {
		if a.Value < 0 {
			errs = append(errs, fmt.Errorf("%s is %d %s, want 0 or more", a.Name, a.Value, a.Unit))
		}
	}
	return errs
}
