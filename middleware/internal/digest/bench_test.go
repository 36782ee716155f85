package digest_test

import (
	"fmt"
	"strings"
)

// texts are what tools return, as patterns that are written with a number as
// often as a size asks for.
var texts = []struct{ name, pattern string }{
	{"prose", "The meeting of the committee was moved to Thursday, since nobody had read paper %d in time. They agreed to wait for it.\n"},
	{"json", `{"order_id": "#W%07d", "status": "pending", "items": [{"sku": "A-99", "price": 54.04}], "email": "ann@example.com"},`},
	{"pretty json", "  {\n    \"order_id\": \"#W%07d\",\n    \"created_at\": \"2024-05-15T12:18:24Z\",\n    \"total\": 1299.5\n  },\n"},
	{"json in a string", `{"content": "{\"order_id\": \"#W%07d\", \"note\": \"first line\nsecond line\", \"total\": 54.04}"},`},
	{"code", "func (s *Store) LoadSession%d(ctx context.Context, id string) (*session.State, error) {\n\treturn s.states[id], nil // see docs/a_b.md\n}\n"},
	{"chinese", "订单号%d的客户张三于2026年3月15日下午付款1,299元,收货地址是北京市海淀区中关村大街1号,联系电话13812345678。\n"},
	{"chinese json", `{"\u8ba2\u5355\u53f7": "W%07d", "\u5ba2\u6237": "\u5f20\u4e09"},`},
	{"russian", "Заказ номер %d был оплачен клиентом в четверг, доставка ожидается до конца месяца, но не позже пятницы.\n"},
	{"log", "2026-03-15T12:18:24Z ERROR worker-%d: connection to 10.0.0.7:5432 refused: error: dial tcp\n"},
	{"csv", "%d,Ann Example,ann@example.com,2026-03-15,54.04\n"},
	{"listing", "-rw-r--r-- 1 root staff 98204 Feb 12 10:01 internal/store/session_%d_test.go\n"},
	{"search", "internal/store/session.go:%d:\tif err := s.loadState(ctx, sessionID); err != nil {\n"},
	{"hex", "%08x 7f 45 4c 46 02 01 01 00 00 00 00 00 00 00 00 00\n"},
	{"base64", "gAAAAABkEnJ22xH%dmciPAukxIoebp8KDzy7RvBhyPBcP9ZQGulW61mWzDNCXCQCI4RclwLPH5eeTTw7ThtEB14JnGBDZqsXEZWxLK6fxvyODJ"},
	{"brackets", "[{[(%d"},
	{"blank", "\n \n\t\n%d"},
	{"quotes", `"'\"\\\"%d`},
}

// filled returns a text of at least so many bytes.
func filled(pattern string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, pattern, i)
	}
	return b.String()
}
