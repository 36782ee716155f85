package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/soak"
)

// crash tells a child process what to do; it stands in an environment
// variable.
type crash struct {
	Path string `json:"path"`
	Step int    `json:"step"` // before which step to die; -1: put contents until killed
	Seed uint64 `json:"seed"`
}

const crashVariable = "LACONIC_STORE_CRASH"

func TestMain(m *testing.M) {
	soak.Checks(30)
	if text := os.Getenv(crashVariable); text != "" {
		var c crash
		err := json.Unmarshal([]byte(text), &c)
		if err == nil {
			err = c.run()
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// command is this program, started again as the child.
func (c crash) command(t *testing.T) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashVariable+"="+string(text))
	return cmd
}

func (c crash) run() error {
	d, err := OpenDir(c.Path)
	if err != nil {
		return err
	}
	if c.Step < 0 {
		return c.putForever(d)
	}
	n := 0
	d.disk.fault = func(string) error {
		if n == c.Step {
			die()
		}
		n++
		return nil
	}
	if _, err := Keep(context.Background(), d, large); err != nil {
		return err
	}
	die()
	return nil
}

// die is what the kernel does to a process that is killed: nothing of it runs
// any more, deferred calls included.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// putForever puts contents of all sizes and says which handles it got.
func (c crash) putForever(d *Dir) error {
	random := rand.New(rand.NewPCG(c.Seed, 0))
	for {
		h, err := Keep(context.Background(), d, Content{Data: strings.Repeat(fmt.Sprint(random.IntN(50)), random.IntN(3)*chunk/3+1)})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(os.Stdout, h); err != nil {
			return err
		}
	}
}

// Killed before each of its steps, and after the last, a process leaves the
// whole content or nothing, and nothing that stays for ever.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	h := HandleOf("", large)
	for _, damaged := range []bool{false, true} {
		steps := append(record(t, large, damaged), "end")
		create, rename := slices.Index(steps, "create"), slices.Index(steps, "rename")
		for k, step := range steps {
			path := t.TempDir()
			d, err := OpenDir(path)
			require.NoError(t, err)
			if damaged {
				damage(t, d)
			}
			require.NoError(t, d.Close())
			out, err := crash{Path: path, Step: k}.command(t).CombinedOutput()
			exit := &exec.ExitError{}
			require.ErrorAs(t, err, &exit)
			require.NotEqual(t, 3, exit.ExitCode(), "the child must be killed and not fail: %s", out)

			d, err = OpenDir(path)
			require.NoError(t, err)
			c, err := d.Get(t.Context(), h)
			switch {
			case k > rename:
				require.NoError(t, err, "killed before %d, %s", k, step)
				same(t, large, c)
			case damaged:
				require.ErrorIs(t, err, ErrDamaged, "killed before %d, %s", k, step)
			default:
				require.ErrorIs(t, err, ErrNotFound, "killed before %d, %s", k, step)
			}

			got, err := Keep(t.Context(), d, large)
			require.NoError(t, err)
			require.Equal(t, h, got)
			c, err = d.Get(t.Context(), h)
			require.NoError(t, err)
			same(t, large, c)
			require.NoError(t, d.Close())

			left, err := os.ReadDir(filepath.Join(path, tempFolder))
			require.NoError(t, err)
			require.Equal(t, k > create && k <= rename, len(left) == 1, "killed before %d, %s: %d temporary files are left", k, step, len(left))
			for _, e := range left {
				require.NoError(t, os.Chtimes(filepath.Join(path, tempFolder, e.Name()), time.Time{}, time.Now().Add(-2*tempAge)))
			}
			d, err = OpenDir(path)
			require.NoError(t, err)
			require.NoError(t, d.Close())
			left, err = os.ReadDir(filepath.Join(path, tempFolder))
			require.NoError(t, err)
			require.Empty(t, left, "what a killed process left goes in the end")
		}
	}
}

// large takes four writes: the header and three chunks.
var large = Content{Type: "text/plain", Data: strings.Repeat("0123456789abcde\n", 5*chunk/32)}

func openTemp(t *testing.T) (*Dir, string) {
	t.Helper()
	path := t.TempDir()
	d, err := OpenDir(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, path
}

// same requires equal contents without printing them if they are not.
func same(t *testing.T, want, got Content) {
	t.Helper()
	if got != want {
		require.Failf(t, "not the whole content", "want %d bytes, got %d of type %q", len(want.Data), len(got.Data), got.Type)
	}
}

// damage puts a damaged file in the place of the large content.
func damage(t *testing.T, d *Dir) {
	t.Helper()
	require.NoError(t, d.disk.root.Mkdir(newDirScope(d.disk, "").folder, 0o700))
	require.NoError(t, d.disk.root.WriteFile(newDirScope(d.disk, "").pathOf(HandleOf("", large)), []byte("damaged"), 0o600))
}

// record puts a content, maybe over a damaged file, and returns the steps that it takes.
func record(t *testing.T, c Content, damaged bool) []string {
	t.Helper()
	d, _ := openTemp(t)
	if damaged {
		damage(t, d)
	}
	var steps []string
	d.disk.fault = func(step string) error {
		steps = append(steps, step)
		return nil
	}
	_, err := Keep(t.Context(), d, c)
	require.NoError(t, err)
	return steps
}

// A content is listed before it is written, so that it can be deleted. It is written out
// before it has its name, and its name is written out before Put returns: so it is whole or
// not there after the power failed, too.
func TestOrderOfSteps(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"mkdir", "list", "sync folder", "sync folder",
		"mkdir", "create", "write", "write", "write", "write", "sync", "rename", "sync folder",
	}, record(t, large, false))
}

// A disk that is full or cannot be written to is an error that says so, and
// leaves the whole content or nothing.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	steps := record(t, large, false)
	for k, step := range steps {
		for f, fault := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO} {
			if (k+f)%soak.Nth(3, 1) > 0 { // another one at each step
				continue
			}
			for _, forGood := range []bool{false, true} {
				d, path := openTemp(t)
				n := 0
				d.disk.fault = func(string) error {
					n++
					if n == k+1 || forGood && n > k {
						return fault
					}
					return nil
				}
				h, err := Keep(t.Context(), d, large)
				require.ErrorIs(t, err, fault, "step %d, %s", k, step)
				require.ErrorContains(t, err, "store: put: ")
				require.True(t, h.IsZero())

				d.disk.fault = nil
				h = HandleOf("", large)
				c, err := d.Get(t.Context(), h)
				if k > slices.Index(steps, "rename") {
					require.NoError(t, err)
					same(t, large, c)
				} else {
					require.ErrorIs(t, err, ErrNotFound, "step %d, %s", k, step)
				}
				if left, err := os.ReadDir(filepath.Join(path, tempFolder)); err == nil && !forGood {
					require.Empty(t, left, "step %d, %s: the temporary file is removed", k, step)
				}
				got, err := Keep(t.Context(), d, large)
				require.NoError(t, err, "once there is room again")
				require.Equal(t, h, got)
				c, err = d.Get(t.Context(), h)
				require.NoError(t, err)
				same(t, large, c)
			}
		}
	}
}
