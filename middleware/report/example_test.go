package report_test

import (
	"fmt"

	"github.com/laconic-go/laconic/middleware/report"
)

func ExampleBill() {
	bill := report.Bill{Known: true, Spent: 12_300_000_000} // pico-dollars
	if bill.Known {                                         // prices of the model are known
		fmt.Printf("%.4f dollars\n", bill.Spent.Dollars())
	}
	// Output: 0.0123 dollars
}
