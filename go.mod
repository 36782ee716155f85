module github.com/laconic-go/laconic

go 1.26.0
