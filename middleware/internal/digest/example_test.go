package digest_test

import (
	"fmt"

	"github.com/laconic-go/laconic/middleware/internal/digest"
)

func ExampleLines() {
	cleared := []digest.Cleared{
		{Text: `{"order_id": "#W2378156", "user_id": "yusuf_rossi_9620", "items": [{"item_id": "1151293680", "price": 272.33}]}`},
		{Text: "Shipped on 2024-05-15 with tracking number 1Z999AA10123456784.\nSee https://example.com/track for the order #W2378156."},
	}
	kept := []string{"Hello, I am yusuf_rossi_9620. Where is my keyboard?"}
	for _, line := range digest.Lines(cleared, kept, digest.Options{Tokens: 40}) {
		fmt.Println(line)
	}

	// Output:
	// item_id: 1151293680; price: 272.33
	// 2024-05-15 1Z999AA10123456784 https://example.com/track #W2378156
}
