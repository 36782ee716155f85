// Package models knows what a model can take, what it costs and how its
// provider caches: a table by model name, dated, with the source of each row.
//
//	m, ok := models.Default().Lookup("us.anthropic.claude-sonnet-4-5-20250929-v1:0")
//	if !ok { … } // not in the table: nothing is known, and nothing is assumed
//	budget := m.Window - reserve
//
// What is not known is zero: a window of 0 is unknown, never a small default.
// The table is a snapshot, made by hand from public pages; each row says from
// which and when. Prices and windows of your own go on top of it with
// [Table.With], which makes a new table and leaves the old one alone:
//
//	table, err := models.Default().With(models.Model{Name: "house-model", Window: 32_768})
//
// Prices are list prices of the model's own provider, in US dollars, at the
// busiest hour and without promotions, so that a cost is rather told too high
// than too low. Resellers and clouds may charge otherwise.
package models
