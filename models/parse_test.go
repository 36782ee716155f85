package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/models"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const usd = models.USD
	rows, err := models.Parse(`
# a comment
@provider acme
@source   https://acme.example/pricing, read by hand  # why
@date     2026-11-21
@encoding o200k_base
@family   acme 1.1
@cache    auto min=1024 step=128 ttl=5m long=1h marks=4 lookback=20
acme-1    200000 150000 8192 | 3 0.30 3.75 6 15
 >128000                     | 6 0.60 7.50 12 22.5
acme-one  = acme-1
@encoding -
@cache    -
acme-2    - - - | - - - - -
@provider other
other-1   1 - 1 | 0.000001 - - - 1000000
`)
	require.NoError(t, err)
	first := models.Model{
		Name: "acme-1", Provider: "acme", Window: 200_000, Input: 150_000, Output: 8192, Encoding: "o200k_base", Family: "acme", Ratio: 1.1,
		Price: models.Price{
			Rates: models.Rates{Input: 3 * usd, CacheRead: 0.3 * usd, CacheWrite: 3.75 * usd, CacheWriteLong: 6 * usd, Output: 15 * usd},
			Long: [3]models.Rates{{
				Above: 128_000,
				Input: 6 * usd, CacheRead: 0.6 * usd, CacheWrite: 7.5 * usd, CacheWriteLong: 12 * usd, Output: 22.5 * usd,
			}},
		},
		Cache:  models.Cache{Auto: true, Min: 1024, Step: 128, TTL: 5 * time.Minute, LongTTL: time.Hour, Breakpoints: 4, Lookback: 20},
		Source: "https://acme.example/pricing, read by hand", Date: "2026-11-21",
	}
	second := first
	second.Name = "acme-one"
	require.Equal(t, []models.Model{
		first, second,
		{Name: "acme-2", Provider: "acme", Family: "acme", Ratio: 1.1, Source: first.Source, Date: first.Date},
		{Name: "other-1", Provider: "other", Window: 1, Output: 1, Price: models.Price{Rates: models.Rates{Input: 1, Output: 1_000_000 * usd}}},
	}, rows)

	rows, err = models.Parse("")
	require.NoError(t, err)
	require.Empty(t, rows)
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	const other = ": must be an @ line, a row below @provider, rates of long prompts below a row, or another name"
	for text, want := range map[string]string{
		"a 1 1 1 | - - - - -":                              `models: line 1: a` + other,
		"@vendor x":                                        `models: line 1: "@vendor": must be @provider, @source, @date, @encoding, @family or @cache`,
		"@provider":                                        `models: line 1: @provider has no value`,
		"@family a b":                                      `models: line 1: strconv.ParseFloat: parsing "b": invalid syntax`,
		"@family a 1 2":                                    `models: line 1: strconv.ParseFloat: parsing "1 2": invalid syntax`,
		"@family":                                          `models: line 1: @family has no value`,
		"@cache size=5":                                    `models: line 1: @cache size=5: must be auto, min, step, ttl, long, marks or lookback`,
		"@cache min=x":                                     `models: line 1: "x": must be a whole number above 0, or -`,
		"@cache ttl=5":                                     `models: line 1: time: missing unit in duration "5"`,
		"@provider p\na 1 1 | - - - - -":                   `models: line 2: a` + other,
		"@provider p\na 1 1 1 - - - - -":                   `models: line 2: a` + other,
		"@provider p\na 1k 1 1 | - - - - -":                `models: line 2: "1k": must be a whole number above 0, or -`,
		"@provider p\na 1 -1 1 | - - - - -":                `models: line 2: "-1": must be a whole number above 0, or -`,
		"@provider p\na 1 1 0 | - - - - -":                 `models: line 2: "0": must be a whole number above 0, or -`,
		"@provider p\na 1 1 9999999999 | - - - - -":        `models: line 2: "9999999999": must be a whole number above 0, or -`,
		"@provider p\na 1 1 1 | - - - -":                   `models: line 2: a` + other,
		"@provider p\na 1 1 1 | $3 - - - -":                `models: line 2: "$3": must be dollars with at most 6 decimals, or -`,
		"@provider p\na 1 1 1 | 1 - - - 0.1234567":         `models: line 2: "0.1234567": must be dollars with at most 6 decimals, or -`,
		"@provider p\na 1 1 1 | 1 .5 - - 1":                `models: line 2: ".5": must be dollars with at most 6 decimals, or -`,
		"@provider p\na 1 1 1 | 0 - - - 1":                 `models: line 2: "0": must be dollars with at most 6 decimals, or -`,
		"@provider p\na 1 1 1 | 1 - - - 1e3":               `models: line 2: "1e3": must be dollars with at most 6 decimals, or -`,
		">5 | 1 1 1 1 1":                                   `models: line 1: >5` + other,
		"@provider p\na 9 - - | 1 - - - 1\n>5 1":           `models: line 3: >5` + other,
		"@provider p\na 9 - - | 1 - - - 1\n>x | 1 - - - 1": `models: line 3: "x": must be a whole number above 0, or -`,
		"@provider p\na 9 - - | 1 - - - 1\n>5 | 1":         `models: line 3: >5` + other,
		"@provider p\nb = a":                               `models: line 2: b: no row above is called a`,
		"@provider p\nb = a c":                             `models: line 2: b` + other,
		"@provider p\na 9 - - | 1 - - - 1\n" + tiers:       `models: line 6: >4: a row has at most 3 rates of long prompts`,
	} {
		rows, err := models.Parse(text)
		require.EqualError(t, err, want, text)
		require.Nil(t, rows, text)
	}
}

const tiers = ">1 | 1 - - - 1\n>2 | 1 - - - 1\n>3 | 1 - - - 1\n>4 | 1 - - - 1"

func FuzzParse(f *testing.F) {
	f.Add("@provider p\n@cache auto min=1\na 9 - 3 | 1 - 2.5 - 1\n >5 | 1 - - - 1\nb = a")
	f.Add("@provider p\na 9 - 3 | 1 - - - 1\nb - - - | - - - - -")
	f.Add("@provider 0\na - 1 - | - - - - -")
	f.Add("@family x 1.5\n@date 2026-11-21 # c\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := models.Parse(text)
		if err != nil {
			require.Nil(t, rows)
			return
		}
		again, err := models.Parse(text)
		require.NoError(t, err)
		require.Equal(t, rows, again)
		table, err := models.Default().With(rows...)
		if err != nil {
			return // rows may be well written and still wrong
		}
		for _, m := range rows {
			got, ok := table.Lookup(m.Name)
			require.True(t, ok)
			require.Equal(t, m, got)
		}
	})
}
