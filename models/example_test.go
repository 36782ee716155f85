package models_test

import (
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

func Example() {
	m, ok := models.Default().Lookup("us.anthropic.claude-sonnet-5-5")
	fmt.Println(ok, m.Name, m.Window, m.Output)

	_, ok = models.Default().Lookup("my-gpt-4o-clone")
	fmt.Println(ok)
	// Output:
	// true claude-sonnet-5-5 1000000 128000
	// false
}

func ExampleTable_Lookup() {
	for _, name := range []string{"GPT-4o-2024-08-06", "models/gemini-2.5-pro", "ft:gpt-4o-mini:acme::a1b2", "qwen2.5:7b", "gpt-9"} {
		m, ok := models.Default().Lookup(name)
		fmt.Println(ok, m.Name, m.Window, m.Price.Input > 0)
	}
	// Output:
	// true gpt-4o 128000 true
	// true gemini-2.5-pro 1048576 true
	// true gpt-4o-mini 128000 false
	// true qwen2.5 131072 false
	// false  0 false
}

// Models that are newer than the table are known by their family.
func ExampleTable_Of() {
	for _, name := range []string{"claude-sonnet-5-5", "us.anthropic.claude-opus-7-20280101-v1:0", "deepseek-v5", "house-model"} {
		m := models.Default().Of(name)
		fmt.Printf("%q %q %q %d\n", m.Name, m.Provider, m.Thinking, m.Window)
	}
	// Output:
	// "claude-sonnet-5-5" "anthropic" "bound" 1000000
	// "" "anthropic" "bound" 0
	// "" "deepseek" "calls" 0
	// "" "" "" 0
}

func ExampleTable_With() {
	deployment, _ := models.Default().Lookup("gpt-4o")
	deployment.Name = "prod-chat" // the name of an Azure deployment
	deployment.Window = 32_000    // what it is set up for

	table, err := models.Default().With(
		deployment,
		models.Model{
			Name: "house-model", Window: 65_536, Output: 8192,
			Price: models.Price{Rates: models.Rates{Input: 0.20 * models.USD, Output: 0.80 * models.USD}},
		},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"prod-chat", "house-model", "gpt-4o"} {
		m, _ := table.Lookup(name)
		fmt.Println(m.Name, m.Window)
	}
	// Output:
	// prod-chat 32000
	// house-model 65536
	// gpt-4o 128000
}

func ExamplePrice_Cost() {
	m, _ := models.Default().Lookup("claude-sonnet-5-5")
	cost, ok := m.Price.Cost(message.Usage{Input: 60_000, CacheRead: 50_000, CacheWrite: 9_000, Output: 800})
	fmt.Println(cost, ok)
	// Output:
	// $0.0375 true
}

// Prompts of more than 200,000 tokens have higher rates.
func ExamplePrice_long() {
	m, _ := models.Default().Lookup("gemini-2.5-pro")
	fmt.Println(m.Price.Input, m.Price.CacheRead, m.Price.Output)
	long := m.Price.Long[0]
	fmt.Println(long.Above, long.Input, long.CacheRead, long.Output)
	// Output:
	// $0.00000125 $0.000000125 $0.00001
	// 200000 $0.0000025 $0.00000025 $0.000015
}

func ExampleModel_Validate() {
	fmt.Println(models.Model{Name: "house-model", Window: 32_768, Output: 65_536}.Validate())
	// Output:
	// models: house-model: Output is 65536, must be at most Window, 32768
}

func ExampleCost() {
	total := models.Cost(0)
	for _, c := range []models.Cost{63_750_000_000, 250_000} {
		total += c
	}
	fmt.Println(total)
	// Output:
	// $0.06375025
}
