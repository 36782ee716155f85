package middleware

type Excess struct{ Sent, Limit, Answer int }

func ReadExcess(err error) (Excess, bool) {
	return Excess{}, err != nil && KindOf(err) == Overflow
}
