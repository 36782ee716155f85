package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// row is one line of the table for each of its runners. The runners take turns, so that
// what else the machine does hits all of them alike.
type row struct {
	name    string
	repeat  int  // how often a sample runs its function in a row
	collect bool // collects garbage before each sample, so that what preparing has left is not counted
	runners []runner
}

// runner is what is measured.
type runner struct {
	name string
	peer bool // it is compared with each runner that is not a peer

	// prepare returns the function that is measured. It is called for each sample.
	prepare func() (func() error, error)

	// minus is the name of a runner of the row without the part that is to be measured: an agent without a middleware.
	// Its time is subtracted.
	minus string

	hidden bool // is only subtracted from others
	bytes  int  // that one run reads; 0: speed is not of interest
}

// result is what a runner took for one run.
type result struct {
	wall, cpu []time.Duration // cpu: of all threads, with the garbage collector
	allocs    uint64
	less      *result // is subtracted; nil: nothing
}

func (r result) minimum() time.Duration { return r.without(slices.Min(r.wall), result.minimum) }

func (r result) median() time.Duration {
	return r.without(slices.Sorted(slices.Values(r.wall))[len(r.wall)/2], result.median)
}

// processor returns the minimum of the processor times.
func (r result) processor() time.Duration { return r.without(slices.Min(r.cpu), result.processor) }

// allocations returns how often the newest run has allocated memory.
func (r result) allocations() uint64 {
	if r.less == nil {
		return r.allocs
	}
	return r.allocs - r.less.allocs
}

func (r result) without(d time.Duration, of func(result) time.Duration) time.Duration {
	if r.less == nil {
		return d
	}
	return d - of(*r.less)
}

func (r row) measure(samples int) ([]result, error) {
	results := make([]result, len(r.runners))
	for i := range samples {
		for k := range r.runners {
			k = (k + i) % len(r.runners) // nobody always follows the same one
			if err := r.sample(r.runners[k], &results[k]); err != nil {
				return nil, fmt.Errorf("%s: %w", r.runners[k].name, err)
			}
		}
	}
	for i, x := range r.runners {
		base := slices.IndexFunc(r.runners, func(o runner) bool { return o.name == x.minus })
		if base < 0 || x.minus == "" {
			continue
		}
		results[i].less = &results[base]
	}
	return results, nil
}

func (r row) sample(x runner, to *result) error {
	f, err := x.prepare()
	if err != nil {
		return err
	}
	if r.collect {
		runtime.GC()
	}
	repeat := time.Duration(cmp.Or(r.repeat, 1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, begin := cpuTime(), time.Now()
	for range repeat {
		if err := f(); err != nil {
			return err
		}
	}
	wall := time.Since(begin)
	to.wall, to.cpu = append(to.wall, wall/repeat), append(to.cpu, (cpuTime()-cpu)/repeat)
	runtime.ReadMemStats(&after)
	to.allocs = (after.Mallocs - before.Mallocs) / uint64(repeat)
	return nil
}

// cpuTime returns the processor time of this process so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const head = "| case | runner | min | median | CPU | allocations | MB/s | × laconic, min | median | CPU | docs: allocations | times |\n" +
	"|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n"

// table returns the lines of a row. That of a peer says how many times as long it takes as each
// of our runners.
func (r row) table(results []result, docs map[[2]string]documented) string {
	var b strings.Builder
	for i, x := range r.runners {
		if x.hidden {
			continue
		}
		res, speed := results[i], ""
		if x.bytes > 0 {
			speed = fmt.Sprintf("%.3g", float64(x.bytes)/1e6/res.minimum().Seconds())
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d | %s |", r.name, x.name, figure(res.minimum()), figure(res.median()),
			figure(res.processor()), res.allocations(), speed)
		for _, of := range []func(result) time.Duration{result.minimum, result.median, result.processor} {
			var ratios []string
			for k, own := range r.runners {
				if x.peer && !own.peer && !own.hidden {
					ratios = append(ratios, fmt.Sprintf("%.2f", float64(of(res))/float64(of(results[k]))))
				}
			}
			fmt.Fprintf(&b, " %s |", strings.Join(ratios, ", "))
		}
		if d, ok := docs[[2]string{r.name, x.name}]; ok {
			fmt.Fprintf(&b, " %d | %s |\n", d.allocations, d.times)
		} else {
			b.WriteString(" | |\n")
		}
	}
	return b.String()
}

func figure(d time.Duration) string {
	switch {
	case d < 100*time.Microsecond:
		return fmt.Sprintf("%.1f µs", float64(d)/1e3)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/1e3)
	}
	return fmt.Sprintf("%.1f ms", float64(d)/1e6)
}

// measuredOn returns where and when the table was measured.
func measuredOn(samples int) string {
	processor, load := "an unknown processor", ""
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(info), "model name"); ok {
			processor, _, _ = strings.Cut(strings.TrimLeft(rest, "\t :"), "\n")
		}
	}
	if avg, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(avg), " ")
		load = ", at a load of " + first
	}
	return fmt.Sprintf("Measured on %s on %s, %d cores%s, with %s: %d samples, taken in turns.\n\n",
		time.Now().UTC().Format(time.DateOnly), processor, runtime.NumCPU(), load, runtime.Version(), samples)
}
