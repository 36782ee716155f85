// Command mutate finds the tests that find nothing. It puts small faults (mutants)
// into a package, all compiled in at once and one of them chosen by an environment
// variable, and runs the tests that reach it. It says how many mutants are found,
// which are not, and which tests are not needed, since others find all that they find.
//
//	go run ./.ci/mutate -sample 100 ./middleware/trim ./tests/seeds
//	go run ./.ci/mutate -all -o /tmp/table.json ./middleware/trim
//
// The first package gets the faults; its tests and those of the other packages
// are run. With -all, the file has all tests and subtests that find each mutant.
// Otherwise the tests that are kept are asked first, and the others only for what
// those do not find. Other tools (gremlins, go-mutesting, go-mutants) compile each
// mutant or stop at the first test that fails: they say what is not tested, and not
// which test is not needed.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type listed struct {
	ImportPath, Name, Dir, Export      string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// A suite is the tests of one package, compiled with the mutants of another one.
type suite struct {
	path, dir, binary string
}

// A test of a suite is known by its name behind the path of its package.
type test struct {
	*suite
	name    string
	lines   int
	seconds float64
	reaches map[int]bool
	kept    bool
}

func (t *test) String() string { return t.path + " " + t.name }

func main() {
	log.SetFlags(0)
	sample := flag.Int("sample", 0, "mutants to try; 0: all")
	slow := flag.Duration("slow", 20*time.Second, "tests that take longer are left out")
	all := flag.Bool("all", false, "run all tests that reach a mutant")
	first := flag.String("keep", "", "tests that are kept in any case, besides examples and fuzz targets: a regular expression")
	out := flag.String("o", "", "file that gets the mutants, each with those who find it")
	flag.Parse()
	keep, err := regexp.Compile(" (Example|Fuzz)|" + cmp.Or(*first, " $"))
	if err != nil {
		log.Fatal("mutate: -keep: ", err)
	}
	mutants, tests, err := prepare(flag.Args(), *slow)
	if err != nil {
		log.Fatal("mutate: ", err)
	}
	for _, t := range tests {
		t.kept = keep.MatchString(t.String())
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(mutants), func(a, b int) { mutants[a], mutants[b] = mutants[b], mutants[a] })
	if *sample > 0 {
		mutants = mutants[:min(*sample, len(mutants))]
	}
	for i := range mutants {
		find(&mutants[i], tests, *all)
		if i%20 == 19 {
			log.Printf("%d of %d mutants", i+1, len(mutants))
		}
	}
	if *out != "" {
		data, err := json.Marshal(mutants)
		if err == nil {
			err = os.WriteFile(*out, data, 0o600)
		}
		if err != nil {
			log.Fatal("mutate: ", err)
		}
	}
	report(mutants, tests)
}

// prepare compiles the tests, and runs each one without a fault.
func prepare(packages []string, slow time.Duration) ([]mutant, []*test, error) {
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, nil, err
	}
	target, export, err := list(packages[0])
	if err != nil {
		return nil, nil, err
	}
	mutants, overlay, err := rewrite(target, export, folder)
	if err != nil {
		return nil, nil, err
	}
	replace, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(file, replace, 0o600); err != nil {
		return nil, nil, err
	}
	var tests []*test
	for i, name := range packages {
		p, _, err := list(name)
		if err != nil {
			return nil, nil, err
		}
		s := &suite{path: p.ImportPath, dir: p.Dir, binary: filepath.Join(folder, fmt.Sprintf("suite%d.test", i))}
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-o", s.binary, name)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, nil, fmt.Errorf("build the tests of %s: %s", name, out)
		}
		tests = append(tests, s.baseline(p, filepath.Join(folder, "reach"), slow)...)
	}
	return mutants, tests, nil
}

func list(name string) (listed, map[string]string, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles", name).Output()
	if err != nil {
		return listed{}, nil, fmt.Errorf("go list %s: %w", name, err)
	}
	var p listed
	export := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var next listed
		if err := d.Decode(&next); err != nil {
			return p, export, nil // the package itself comes last
		}
		export[next.ImportPath] = next.Export
		p = next
	}
}

func importsOf(set *token.FileSet, export map[string]string) types.Importer {
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
}

// baseline runs each test of the package alone, and notes which mutants it reaches.
func (s *suite) baseline(p listed, file string, slow time.Duration) []*test {
	lines := map[string]int{}
	set := token.NewFileSet()
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			continue // the compiler has accepted it
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				lines[d.Name.Name] = set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1
			}
		}
	}
	var tests []*test
	for name := range strings.Lines(s.run(nil, time.Minute, "-test.list", ".")) {
		name = strings.TrimSpace(name)
		if lines[name] == 0 || strings.HasPrefix(name, "Benchmark") {
			continue
		}
		_ = os.Remove(file)
		start := time.Now()
		out := s.run([]string{"MUTANT_REACH=" + file}, slow, "-test.run", "^"+name+"$", "-test.v")
		if !strings.HasSuffix(strings.TrimSpace(out), "PASS") || strings.Contains(out, "--- SKIP: "+name+" ") {
			log.Printf("left out, since it fails, takes too long, or is skipped: %s %s", s.path, name)
			continue
		}
		t := &test{suite: s, name: name, lines: lines[name], seconds: time.Since(start).Seconds(), reaches: map[int]bool{}}
		ids, _ := os.ReadFile(file) // no file: it reaches none
		for line := range strings.Lines(string(ids)) {
			if id, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				t.reaches[id] = true
			}
		}
		tests = append(tests, t)
	}
	return tests
}

// run returns what the tests print. Memory is limited, since a fault may ask for all of it.
func (s *suite) run(env []string, limit time.Duration, args ...string) string {
	script := `ulimit -v 8000000; exec timeout -k 1 "$0" "$@"`
	args = append([]string{"-c", script, strconv.Itoa(int(limit.Seconds()) + 5), s.binary, "-test.short", "-test.timeout", limit.String()}, args...)
	cmd := exec.Command("sh", args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput() // how it ended is in what it prints
	return string(out)
}

// find runs the tests that reach a mutant, and keeps one of those that find it.
func find(m *mutant, tests []*test, all bool) {
	var kept, others []*test
	for _, t := range tests {
		switch {
		case !t.reaches[m.ID]:
		case t.kept:
			kept = append(kept, t)
		default:
			others = append(others, t)
		}
	}
	m.Reached = len(kept)+len(others) > 0
	found := kill(m.ID, kept, !all)
	done := len(found) > 0
	if !done || all {
		maps.Copy(found, kill(m.ID, others, false))
	}
	m.Killers = slices.Sorted(maps.Keys(found))
	var best *test
	for _, t := range others {
		if found[t.String()] && (best == nil || t.lines < best.lines) {
			best = t
		}
	}
	if best != nil && !done {
		best.kept = true
	}
}

// kill returns the tests and subtests that fail with the mutant: of each package all of them, or one.
func kill(id int, tests []*test, one bool) map[string]bool {
	found := map[string]bool{}
	for len(tests) > 0 && (!one || len(found) == 0) {
		s := tests[0].suite
		limit := 5 * time.Second
		var names []string
		for _, t := range tests {
			if t.suite == s {
				names = append(names, t.name)
				limit += time.Duration(2 * t.seconds * float64(time.Second))
			}
		}
		out := s.run([]string{"MUTANT=" + strconv.Itoa(id)}, limit.Round(time.Second), "-test.run", "^("+strings.Join(names, "|")+")$", "-test.v", "-test.failfast="+strconv.FormatBool(one))
		failed, ended := outcomes(out)
		for f := range failed {
			found[s.path+" "+f] = true
		}
		// After a crash, those that have neither failed nor passed are run again.
		left := slices.DeleteFunc(slices.Clone(tests), func(t *test) bool {
			return t.suite == s && (ended || failed[t.name] || strings.Contains(out, "--- PASS: "+t.name+" "))
		})
		if len(left) == len(tests) {
			found[tests[0].String()] = true
			left = tests[1:]
		}
		tests = left
	}
	return found
}

// outcomes returns the tests and subtests that failed or were running at a crash, and
// whether all tests were run to their end.
func outcomes(out string) (failed map[string]bool, ended bool) {
	failed = map[string]bool{}
	running := ""
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 3 {
			continue
		}
		switch words[0] + " " + words[1] {
		case "--- FAIL:":
			failed[words[2]] = true
		case "=== RUN", "=== CONT", "=== NAME":
			running = words[2]
		}
	}
	last := strings.TrimSpace(out)
	ended = strings.HasSuffix(last, "PASS") || strings.HasSuffix(last, "FAIL")
	ended = ended && !strings.Contains(out, "\npanic: ") && !strings.Contains(out, "\nfatal error: ")
	if !ended && running != "" {
		failed[running] = true
		failed[strings.Split(running, "/")[0]] = true
	}
	return failed, ended
}

func report(mutants []mutant, tests []*test) {
	found := 0
	for _, m := range mutants {
		if len(m.Killers) > 0 {
			found++
			continue
		}
		fmt.Printf("survives: %s %s (reached: %v)\n", m.Where, m.What, m.Reached)
	}
	for _, t := range tests {
		if !t.kept {
			fmt.Printf("not needed: %s (%d lines, %.1f s)\n", t, t.lines, t.seconds)
		}
	}
	fmt.Printf("found: %d of %d mutants\n", found, len(mutants))
}
