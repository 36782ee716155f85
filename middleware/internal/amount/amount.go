// Package amount checks options that are whole numbers.
package amount

import "fmt"

// Amount is the value of an option, with its name and unit.
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
