package tests

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

type panicT struct{ msg string }

func (p *panicT) Errorf(f string, a ...any) { p.msg = fmt.Sprintf(f, a...) }
func (p *panicT) FailNow()                  { panic(p.msg) }

var dbgHistory any

func TestSeeds(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SEEDS"))
	from, _ := strconv.Atoi(os.Getenv("FROM"))
	bad := 0
	for s := from; s < from+n; s++ {
		func() {
			defer func() {
				if r := recover(); r != nil {
					bad++
					if bad <= 3 {
						fmt.Printf("SEED %d: %.1800v\n", s, r)
						if os.Getenv("H") != "" {
							fmt.Println(dbgHistory)
						}
					}
				}
			}()
			fitsOrSaysWhy(&panicT{}, &fixedDice{state: uint64(s) * 7919})
		}()
	}
	fmt.Println("bad", bad, "of", n)
}
func dump(h any) string { return fmt.Sprintf("%+v", h) }
