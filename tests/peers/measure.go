package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
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

// result is what a runner took for one run: the least of its samples.
type result struct {
	wall, cpu time.Duration // cpu: of all threads, with the garbage collector
	allocs    uint64        // how often the newest run has allocated memory
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
		for k, o := range r.runners {
			if x.minus == o.name {
				results[i].wall -= results[k].wall
				results[i].cpu -= results[k].cpu
				results[i].allocs -= results[k].allocs
			}
		}
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
	began, begin := cpuTime(), time.Now()
	for range repeat {
		if err := f(); err != nil {
			return err
		}
	}
	wall, cpu := time.Since(begin)/repeat, (cpuTime()-began)/repeat
	runtime.ReadMemStats(&after)
	if to.wall > 0 {
		wall, cpu = min(wall, to.wall), min(cpu, to.cpu)
	}
	*to = result{wall, cpu, (after.Mallocs - before.Mallocs) / uint64(repeat)}
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

const head = "| case | runner | min | CPU | allocations | MB/s | × laconic, min | CPU | docs: allocations | times |\n" +
	"|---|---|--:|--:|--:|--:|--:|--:|--:|---|\n"

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
			speed = fmt.Sprintf("%.3g", float64(x.bytes)/1e6/res.wall.Seconds())
		}
		var wall, cpu []string
		for k, own := range r.runners {
			if x.peer && !own.peer && !own.hidden {
				wall = append(wall, fmt.Sprintf("%.2f", float64(res.wall)/float64(results[k].wall)))
				cpu = append(cpu, fmt.Sprintf("%.2f", float64(res.cpu)/float64(results[k].cpu)))
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %s | %s | %s |", r.name, x.name, figure(res.wall), figure(res.cpu), res.allocs, speed,
			strings.Join(wall, ", "), strings.Join(cpu, ", "))
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
